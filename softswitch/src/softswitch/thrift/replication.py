# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on mirroring sessions and multicast. Methods have the names of the calls."""

from __future__ import annotations

import json
import re
from typing import Any

from softswitch.control import Commands
from softswitch.operations.mirror_sessions import MirrorSession, MirrorSessions
from softswitch.thrift.interface import interface
from softswitch.thrift.refusals import SESSION_NOT_FOUND, MulticastCode, Refused, ask, refusing

_MAP = re.compile(r"[01]{0,512}")
_GROUP = re.compile(r"mgrp\((\d+)\)")
_NODE = re.compile(r"\(L1h=(\d+), rid=(\d+)\) -> \(ports=\[(.*?)\], lags=\[(.*?)\]\)")
_LAG = re.compile(r"lag\((\d+)\) -> ports=\[(.*?)\]")


class Mirroring:
    """The mirroring sessions of a switch."""

    def __init__(self, control: Commands) -> None:
        self._sessions = MirrorSessions(control)

    def mirroring_session_add(self, session: int, target: Any) -> None:
        with refusing(SESSION_NOT_FOUND):
            self._sessions.set(session, MirrorSession(target.port, target.group))

    def mirroring_session_delete(self, session: int) -> None:
        with refusing(SESSION_NOT_FOUND):
            self._sessions.delete(session)

    def mirroring_session_get(self, session: int) -> Any:
        with refusing(SESSION_NOT_FOUND):
            found = self._sessions.get(session)
        return interface().MirroringSession(port=found.port, group=found.group)

    def mirroring_mapping_add(self, session: int, port: int) -> int:
        self.mirroring_session_add(session, interface().MirroringSession(port=port))
        return 1

    def mirroring_mapping_delete(self, session: int) -> int:
        """Delete a session; return 1 if it existed, otherwise 0."""
        try:
            self.mirroring_session_delete(session)
        except Refused:
            return 0
        return 1

    def mirroring_mapping_get_egress_port(self, session: int) -> int:
        """Return the port of a session; -1 if the session does not exist or leads to a group."""
        try:
            port = self.mirroring_session_get(session).port
        except Refused:
            return -1
        return -1 if port is None else int(port)


class Multicast:
    """The groups, nodes and link aggregation groups (LAGs) of a switch."""

    def __init__(self, control: Commands) -> None:
        self._control = control

    def bm_mc_mgrp_create(self, context: int, group: int) -> int:
        """Create a group; as on BMv2, an existing group is left unchanged, so commands may be repeated."""
        if not self._has_group(group):
            self._do(["mc_mgrp_create", str(group)], {"above": MulticastCode.INVALID_GROUP_ID})
        return group

    def bm_mc_mgrp_destroy(self, context: int, group: int) -> None:
        self._do(["mc_mgrp_destroy", str(group)], {"group": MulticastCode.INVALID_GROUP})

    def bm_mc_node_create(self, context: int, replication_id: int, ports: str, link_groups: str) -> int:
        words = ["mc_node_create", str(replication_id), *_numbers(ports), "|", *_numbers(link_groups)]
        return int(self._do(words).split()[-1])

    def bm_mc_node_update(self, context: int, node: int, ports: str, link_groups: str) -> None:
        words = ["mc_node_update", str(node), *_numbers(ports), "|", *_numbers(link_groups)]
        self._do(words, {"node": MulticastCode.INVALID_NODE})

    def bm_mc_node_destroy(self, context: int, node: int) -> None:
        self._do(["mc_node_destroy", str(node)], {"the node": MulticastCode.INVALID_NODE})

    def bm_mc_node_associate(self, context: int, group: int, node: int) -> None:
        self._find_group(group)
        self._do(["mc_node_associate", str(group), str(node)], {"does not exist": MulticastCode.INVALID_NODE})

    def bm_mc_node_dissociate(self, context: int, group: int, node: int) -> None:
        self._find_group(group)
        self._do(["mc_node_dissociate", str(group), str(node)], {"does not exist": MulticastCode.INVALID_NODE})

    def bm_mc_set_lag_membership(self, context: int, link_group: int, ports: str) -> None:
        self._do(["mc_set_lag_membership", str(link_group), *_numbers(ports)])

    def bm_mc_get_entries(self, context: int) -> str:
        """Return BMv2's JSON: groups, nodes (L1), their ports (L2, here with the node's handle) and LAGs."""
        groups: dict[int, list[int]] = {}
        nodes: dict[int, tuple[int, dict[str, Any]]] = {}
        lags: list[dict[str, Any]] = []
        for line in self._do(["mc_dump"]).splitlines():
            group, node, lag = _GROUP.match(line), _NODE.search(line), _LAG.fullmatch(line)
            if group:
                groups.setdefault(int(group[1]), [])
            if node:
                handle = int(node[1])
                l2 = {"handle": handle, "ports": _listed(node[3]), "lags": _listed(node[4])}
                nodes[handle] = int(node[2]), l2
                if group:
                    groups[int(group[1])].append(handle)
            if lag:
                lags.append({"id": int(lag[1]), "ports": _listed(lag[2])})
        return json.dumps(
            {
                "mgrps": [{"id": group, "l1_handles": handles} for group, handles in groups.items()],
                "l1_handles": [{"handle": h, "rid": rid, "l2_handle": h} for h, (rid, _) in sorted(nodes.items())],
                "l2_handles": [l2 for _, (_, l2) in sorted(nodes.items())],
                "lags": lags,
            }
        )

    def _find_group(self, group: int) -> None:
        if not self._has_group(group):
            raise Refused(MulticastCode.INVALID_GROUP, f"no multicast group {group}")

    def _has_group(self, group: int) -> bool:
        matches = (_GROUP.match(line) for line in self._do(["mc_dump"]).splitlines())
        return any(match is not None and int(match[1]) == group for match in matches)

    def _do(self, words: list[str], meanings: dict[str, int] | None = None) -> str:
        return ask(self._control, words, MulticastCode.ERROR, meanings)


def _numbers(bits: str) -> list[str]:
    """Return the positions of the ones in a bit map; the last digit is position 0."""
    if not _MAP.fullmatch(bits):
        raise Refused(MulticastCode.ERROR, "a map of ports is up to 512 digits of 0 and 1")
    return [str(number) for number, bit in enumerate(reversed(bits)) if bit == "1"]


def _listed(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word.strip()]
