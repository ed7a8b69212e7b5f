# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Every verb of the prompt on a live network, on both targets, through `--exec`; exit codes of scripts."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from sfc_testbed.telemetry.captures.pcapng import Direction, read_capture
from sfc_testbed.testbed.targets.bmv2.installation import find_bmv2
from tests.testbed import running
from tests.testbed.local_image import image_of_bmv2

pytestmark = [*running.NEEDS_MININET, running.LEAVES_NOTHING]
SMALL = ["--set", "topology.hosts_per_tor=2", "--dilation", "10000"]
SMALL += ["--set", "switch.q_th_bytes=100000", "--set", "switch.q_tg_bytes=50000"]  # three senders exceed this
STAR = ["--topology", "star", "--set", "topology.hosts=3", "--dilation", "10000"]

# Pairs of a line and a regular expression for its output. A line that begins with `-` must fail.
LINES: tuple[tuple[str, str], ...] = (
    ("h1 ping -c 1 -W 5 h4", "1 received"),
    ("pingall", r"(?s)h1 -> h2 h3 h4\n.*0% dropped \(12/12 received\)"),
    ("py h1.IP()", r"^10\.1\.0\.1$"),
    ("py sorted(session.switches)", "spine1.*tor2"),
    ("-py 1/0", "^ZeroDivisionError: division by zero$"),
    ("px print(h1.IP(), 'and more')", r"10\.1\.0\.1 and more"),
    ("pingpair", r"h1 -> h2\nh2 -> h1\n.*\(2/2 received\)"),
    ("pingset h1 h4", r"h1 -> h4\n"),
    ("pingallfull", r"h1->h2: rtt min/avg/max/mdev [\d.]+/"),
    ("pingpairfull", r"2/2 received"),
    ("time pingpair", "Elapsed time"),
    ("nodes", "h1 h2 h3 h4 spine1 spine2 tor1 tor2"),
    ("net", "tor1 .*tor1-eth1"),
    ("dump", r"<HostNode h1: h1-eth0:10\.1\.0\.1"),
    ("intfs", "^h1: h1-eth0$"),
    ("ports", "tor1-eth1:1"),
    ("links", r"h1-eth0<->tor1-eth1 \(OK OK\) 100 Gb/s, 1 us"),
    ("printSwitches", "tor1: 1->h1, 2->h2, 3->spine1, 4->spine2"),
    ("send h1 h4 100KB wait", "h1 sends 100000 B to h4: 1 of 1 messages are done, slowdown"),
    ("send h2 h3 5KB", "h2 sends 5000 B to h3"),
    ("wait", "2 of 2 messages are done"),
    ("-send h1 h1 1KB", "^h1 cannot send to itself$"),
    ("-send h1 h9 1KB", "unknown host 'h9'; choose from h1 to h4"),
    ("-send h1 h2 many", "the size must be a size such as 250KB or 64KiB, not 'many'"),
    ("-send h1", r"^usage: send SRC DST SIZE \[wait\]$"),
    ("-incast h4 2 1KB wait wait", r"^usage: incast DST N SIZE \[wait\] \| "),
    ("set_rate tor2 h4 10", "10 Gb/s"),  # so that a queue grows even on a slow machine
    ("incast h4 3 250KB 1us wait", "h1, h2, h3 send 250000 B each to h4: 3 of 3 messages are done"),
    ("-incast h4 4 1KB", "4 hosts cannot send to h4: the network has 3 other hosts"),
    ("flows", r"h1 to h4, 250000 B: done in [\d.]+ us \(slowdown [\d.]+, paused [\d.]+ us, \d+ resent\)"),
    ("pauses", r"^0 pauses now under sfc; since sfc began, hosts received [1-9]\d* BTS and obeyed [1-9]\d*$"),
    ("queues", r"^tor2 at [\d.]+ us: 0 B of frames in all queues$"),
    ("set_rate tor2 h4 2", "2 Gb/s"),  # 200 KB take 8 s of wall time
    ("send h1 h4 200KB", "h1 sends 200000 B to h4"),
    ("px while sum(each.held_bytes for each in session.queues('tor2')) < 50_000: pass", ""),
    ("queues tor2", r"^tor2 at [\d.]+ us: (\d+) B of frames in all queues\n  port 2 to h4, class 3 \(data\): \1 B$"),
    ("flows", r"(?s)^at [\d.]+ us; sizes are payload, without headers\n.*\(window \d+ B, rate [\d.]+ Gb/s\)"),
    ("fidelity", r"(?s)verdict so far: .*\n  Whether packets were lost is not known: 1 message is under way"),
    ("wait", "6 of 6 messages are done"),
    ("set_rate tor2 h4 10", "10 Gb/s"),
    ("bts", r"tor2: sent_queue [1-9]"),
    ("bts -f 1s", "^0 BTS$"),
    ("cache", "tor1: [01] live entries now, 1 at the peak since it started"),
    ("drops tor1", "^tor1: none$"),
    (
        "watch tor2 2 1s",
        r"tor2 port 2 to h4: 0 KB of frames at [\d.]+ us, 0 KB at the peak of the [\d.]+ us watched; .*Q_th 100 KB",
    ),
    ("watch tor2 h4 1", "tor2 port 2 to h4: "),
    ("watch tor2 1s", "tor2, all queues: "),
    ("watch --web", r"^watch: http://127\.0\.0\.1:\d+/[\w-]{22}/$"),
    ("-watch tor2 h4 tor1", "^the time must be a time such as 20us or 1.5ms, not 'tor1'"),
    (
        "fidelity",
        r"(?s)over the [\d.]+ us .*tor1: \d+ (frames sent|probes), late by .*"
        r"NICs of h1.* \(agent1\): \d+ frames sent, late by [\d.]+ ms of wall time \(P99\), [\d.]+ % of .*"
        r"packets: \d+ sent by hosts, .* 0 lost\nverdict so far: (?!.*not known)(faithful|degraded|invalid)$",
    ),
    ("show_tables", "(?s)ipv4_lpm .*\\d+ tables that the compiler made: `show_tables all`"),
    ("show_tables tor1 all", "tbl_"),
    ("-show_tables all all", "^unknown switch 'all'"),
    ("table_dump tor1 ipv4_lpm", r"entry 0: 10\.1\.0\.1/32 => SfcIngress\.forwarding\.next_hop 1 "),
    ("table_dump tor1", "(?s)bts_trigger:\n  entry 0: 3 => SfcIngress.bts.ingress_bts 100000 50000"),
    ("-table_dump tor1 nothing", "nothing"),
    ("p4 tor1 help", "table_dump"),
    ("p4 tor1 table_num_entries bts_trigger", "^1$"),
    ("-p4 tor1 nonsense", "nonsense|no such command"),
    ("dpctl table_num_entries bts_trigger", r"\*\*\* tor1\n1\n\*\*\* tor2\n1"),
    ("-dpctl dump-flows", "^'dump-flows' is for OpenFlow switches; for P4: "),
    ("set_rate tor2 h4 50", r"tor2 port 2 to h4: 50 Gb/s \(5000000 bit/s on the wall clock\)"),
    ("table_dump tor2 congested_port", "port_speed 26843546 1"),  # 1.6 us a byte in 2^-24 us
    ("-set_rate tor2 h4 fast", "the rate must be a rate such as 400G or 25Gbps, not 'fast'"),
    ("-set_rate tor2 9 50", "unknown or ambiguous port '9' of tor2"),
    ("scheme", "^sfc; available: gbn, irn,"),
    ("scheme irn+none", r"^sfc -> irn\+none; "),
    ("table_dump tor2 bts_trigger", r"^default: SfcIngress\.bts\.no_bts$"),
    ("pauses", r"^0 pauses now under irn\+none; its switches send neither BTS nor pause frames$"),
    ("send h1 h4 100KB wait", "1 of 1 messages are done"),
    ("-scheme nonsense", "unknown scheme 'nonsense'"),
    ("scheme sfc", r"^irn\+none -> sfc; "),
    ("load_balancing", "^ecmp; available: ecmp, spray, "),
    ("load_balancing drill", "^drill; switches choose ports by drill, before by ecmp$"),
    ("load_balancing ecmp", "^ecmp; switches choose ports by ecmp, before by drill$"),
    ("table_dump tor2 bts_trigger", "ingress_bts 100000 50000"),
    ("set_rate tor2 h4 100", "100 Gb/s"),
    ("link h1 tor1 down", "^h1 - tor1: down$"),
    ("-pingset h1 h2", r"h1 -> X\nh2 -> X\n.*100% dropped"),
    ("links", r"h1-eth0<->tor1-eth1 \(down down\)"),
    ("link h1 tor1 up", "^h1 - tor1: up$"),
    ("pingset h1 h2 h4", r"0% dropped \(6/6 received\)"),
    ("-link h1 h2 down", "h1 and h2 are not linked"),
    ("switch spine1 stop", "^spine1 is stopped.* No route .*: `link tor1 spine1 down`, `link tor2 spine1 down`$"),
    ("link tor1 spine1 down", "^tor1 - spine1: down$"),
    ("link tor2 spine1 down", "^tor2 - spine1: down$"),
    ("pingall", r"0% dropped \(12/12 received\)"),
    ("switch spine1 start", "^spine1 forwards$"),
    ("link tor1 spine1 up", "^tor1 - spine1: up$"),
    ("link tor2 spine1 up", "^tor2 - spine1: up$"),
    ("switch tor1 stop", "^tor1 is stopped; .* Its hosts are cut off until `switch tor1 start`: h1, h2$"),
    ("-queues tor1", "tor1 is stopped; `switch tor1 start` starts it again"),
    ("-pingpair", "100% dropped"),
    ("switch tor1 start", "tor1 forwards"),
    ("pingpair", "0% dropped"),
    ("-switch tor1 start", "^tor1 runs already; `switch tor1 reboot` stops it and starts it again$"),
    ("px r = session.switches['tor1']._running; r = getattr(r, '_host', r); getattr(r, '_container', r).kill()", ""),
    ("px while session.switches['tor1'].is_up: pass", ""),
    ("queues", r"(?s)^tor1 was ended by SIGKILL \(.*\); `switch tor1 start` starts it again\ntor2 at "),
    ("-queues tor1", r"^tor1 was ended by SIGKILL \(.*\); `switch tor1 start` starts it again$"),
    ("-pingpair", "100% dropped"),
    ("printSwitches", r"tor1: 1->h1, 2->h2, 3->spine1, 4->spine2 \(tor1 was ended by SIGKILL"),
    ("-scheme irn", r"^tor1 was ended by SIGKILL \(.*\): start all switches first, with `switch tor1 start`$"),
    ("fidelity", "Whether packets were lost is not known: tor1 was ended by SIGKILL"),
    ("link h2 tor1 down", "^h2 - tor1: down$"),
    ("switch tor1 start", "^tor1 forwards$"),
    ("link h2 tor1 up", "^h2 - tor1: up$"),
    ("pingall", r"0% dropped \(12/12 received\)"),
    ("table_dump tor1 ipv4_lpm", r"entry 0: 10\.1\.0\.1/32 => SfcIngress\.forwarding\.next_hop 1 "),
    ("fidelity", r"(?s)tor1: .* since its start at [\d.]+ us.*not known: tor1 was started again at [\d.]+ us"),
    ("p4switch_stop tor2", "tor2 is stopped"),
    ("p4switch_start tor2", "tor2 forwards"),
    ("p4switch_reboot tor2", "tor2 forwards"),
    ("table_dump tor2 bts_trigger", "ingress_bts 100000 50000"),
    ("p4switches_reboot", "tor1 forwards\\ntor2 forwards"),
    ("pingpair", "0% dropped"),
    ("pcap h1 on", r"^capturing to /.*/runs/cli-[\d-]+/pcaps/h1-eth0\.pcapng$"),
    ("-pcap h1 on", "h1-eth0 is being captured already"),
    ("send h1 h2 2KB wait", "1 of 1 messages are done"),
    ("pcap h1 off", r"^captured /.*/pcaps/h1-eth0\.pcapng$"),
    ("pcap tor1 1 on", r"^capturing to /.*/pcaps/tor1-eth1\.pcapng$"),
    ("scenario incast ci degree=2", r"2 of 2 flows done, peak buffer \d+ KB, .*\n.*\nreport: .*report.html"),
    ("pingpair", "0% dropped"),
    # Measured rates are below the links' rate of 100 Gb/s; only the requested rate may exceed it.
    (
        "iperf h1 h4",
        r"Results: h4 received \d?\d\.\d\d Gb/s \([\d.]+ Mbits/sec on the wall clock\) of TCP payload, \d+ ret",
    ),
    ("iperfudp 5 h1 h4", r"asked for 5\.00 Gb/s .*, h4 received [2-5]\.\d\d Gb/s .* of UDP payload, 0 % lost"),
    (
        "iperfudp 150 h1 h4",
        r"asked for 150\.00 Gb/s .*, h4 received \d\d\.\d\d Gb/s .* of UDP payload, [1-9][\d.]* % lost",
    ),
    ("-xterm h1", "display|xterm"),
    ("-gterm h1", "display|xterm"),
    ("-x h1", "no display to tunnel to"),
    ("sh echo there", "^there$"),
    ("noecho h1 echo hello", "^hello$"),
    ("source lines.txt", r"(?s)\(2/2 received\).*^10\.1\.0\.1$"),
    ("-source nowhere.txt", "No such file or directory: nowhere.txt"),
    ("-h1 false", "^$"),
    ("-h1 iperf3 -c h4", "Connection refused\nif h4 has no server yet, `h4 iperf3 -s -D` starts one; `iperf h1 h4` "),
    ("px import subprocess; out, run = {'capture_output': True, 'text': True}, subprocess.run", ""),
    ("px print(str(h1.pid) in run(['pgrep', '-f', 'mininet:h1$'], **out).stdout.split())", "^True$"),
    ("px print(run(['mnexec', '-a', str(h1.pid), 'ping', '-c1', '-W5', h4.IP()], **out).stdout)", "1 received"),
    ("h4 iperf3 -s -D", "^$"),
    ("h1 iperf3 -c h4 -t 1", "iperf Done"),
    ("py [host.name for host in session.topology.hosts if session.scheme]", r"^\['h1', 'h2', 'h3', 'h4'\]$"),
    ("-nonsense", "Unknown command: nonsense"),
    ("help", "(?s)(?=.*pingall).*watch"),
    ("help watch", r"watch SWITCH \[PORT\] \[SECONDS\]"),
    ("h1 sleep 300 &", ""),
    ("-nodes now", "^usage: nodes, without 'now'$"),
    ("-net now", "^usage: net, without 'now'$"),
    ("-dump now", "^usage: dump, without 'now'$"),
    ("-intfs now", "^usage: intfs, without 'now'$"),
    ("-ports now", "^usage: ports, without 'now'$"),
    ("-quit now", "^usage: quit, without 'now'$"),
    ("-EOF now", "^usage: EOF, without 'now'$"),
    ("-exit now?", r"^usage: exit, without 'now\?'$"),
    ("exit", r"^captured /.*/pcaps/tor1-eth1\.pcapng$"),
)


def _execute(tmp_path: Path, lines: str, *words: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "script.txt").write_text(lines)
    environment = {"COLUMNS": "100", **{name: value for name, value in os.environ.items() if name != "DISPLAY"}}
    return running.run("cli", *words, "--exec", "script.txt", cwd=tmp_path, env=environment)


@pytest.mark.parametrize("switch", ["soft", "bmv2"])
def test_every_verb_does_what_it_says(tmp_path: Path, switch: str) -> None:
    if switch == "bmv2" and isinstance(find_bmv2(), str):
        pytest.skip("simple_switch is not installed")
    (tmp_path / "lines.txt").write_text("pingpair\npy h1.IP()\n")
    _type(tmp_path, LINES, *SMALL, "--switch", switch)
    _check_captures(tmp_path)


def test_every_verb_does_what_it_says_if_bmv2_is_in_containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with image_of_bmv2(monkeypatch):
        test_every_verb_does_what_it_says(tmp_path, "bmv2")


def _type(tmp_path: Path, lines: Sequence[tuple[str, str]], *words: str) -> None:
    """Execute lines at the prompt and check what each line prints."""
    done = _execute(tmp_path, "".join(f"{line}\n" for line, _ in lines), *words)
    _, *parts = re.split(r"^mininet> ", done.stdout, flags=re.MULTILINE)
    wrong = []
    for (line, expected), part in zip(lines, parts, strict=False):
        typed, _, answer = part.partition("\n")
        assert typed == line
        if not re.search(expected, answer.rstrip("\n"), re.MULTILINE):
            wrong.append(f"{line}: {answer!r} has no {expected!r}")
        if line.startswith("-") and not line.startswith(("-ping", "-h1 ")):
            assert answer.count("\n") <= 1, answer
    assert not wrong, "\n".join(wrong)
    assert (len(parts), done.returncode) == (len(lines), 0), done.stdout[-2000:] + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


PAUSES: tuple[tuple[str, str], ...] = (
    ("incast h4 3 250KB 1us wait", "3 of 3 messages are done"),
    ("pauses", r"under sfc; since sfc began, hosts received [1-9]\d* BTS"),
    ("scheme pfc+none", r"^sfc -> pfc\+none; "),
    ("pauses", r"^0 pauses now under pfc\+none; `bts` counts the pause frames of each switch$"),
    ("set_rate tor2 h4 2", "2 Gb/s"),
    ("send h3 h4 400KB", "h3 sends 400000 B to h4"),
    ("send h1 h4 400KB", "h1 sends 400000 B to h4"),
    ("px while not session.look().hosts['h3'].class_paused_for_us: pass", ""),
    ("px while not any(session.paused_ports(spine) for spine in ('spine1', 'spine2')): pass", ""),
    (
        "pauses",
        r"^h3, data class \(message 4 to h4\): [\d.]+ us more, unless its switch resumes it\n"
        r"(h1, .*\n|tor1 .*\n)*spine[12] port 2, data class: until tor2 resumes it\n\d pauses now under pfc\+none; ",
    ),
    ("set_rate tor2 h4 100", "100 Gb/s"),
    ("wait", "5 of 5 messages are done"),
    ("pauses", r"^0 pauses now under pfc\+none; "),
    ("bts", r"tor2: .*pause_xoff [1-9]"),
    ("scheme bfc", r"^pfc\+none -> bfc; "),
    ("set_rate tor2 h4 2", "2 Gb/s"),
    ("send h1 h4 200KB", "h1 sends 200000 B to h4"),
    ("px while not any(session.paused_ports(spine) for spine in ('spine1', 'spine2')): pass", ""),
    ("pauses", r"(?s)spine[12] port 2, 1 flow queue: until tor2 resumes it\n\d pauses? now under bfc; `bts` counts"),
    ("bts", r"tor2: .*queue_pause [1-9]"),
    ("set_rate tor2 h4 100", "100 Gb/s"),
    ("wait", "6 of 6 messages are done"),
    ("scheme sfc", "^bfc -> sfc; "),
    ("pauses", "^0 pauses now under sfc; since sfc began, hosts received 0 BTS and obeyed 0$"),
)


def test_pauses_are_those_of_the_current_flow_control(tmp_path: Path) -> None:
    """A switch pauses a host at 60 KB and a spine at 240 KB. BMv2 has no queues that can be paused."""
    pfc = ["--set", "switch.buffer_bytes=16000000", "--set", "switch.pfc_alpha=0.004"]
    _type(tmp_path, PAUSES, *SMALL, *pfc, "--switch", "soft")


def test_commands_of_the_page_on_the_data_plane_change_switches(tmp_path: Path) -> None:
    """docs/data-plane.md lists commands for classes without p4c."""
    page = (running.ROOT / "docs" / "data-plane.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\| `((?:p4|dpctl) .*?)` \|", page, re.MULTILINE)
    lines = [*commands, "p4 tor2 table_dump bts_trigger", "incast h8 7 250KB wait", "bts"]
    assert len(commands) > 5
    done = _execute(tmp_path, "".join(f"{line}\n" for line in lines))
    assert done.returncode == 0, done.stdout
    first, *_, last, _, counts = re.split(r"^mininet> .*\n", done.stdout, flags=re.MULTILINE)[1:]
    assert first.startswith("entry 0: 3 => SfcIngress.bts.ingress_bts 250000 125000\n")
    assert last.startswith("entry 0: 3 => SfcIngress.bts.no_bts\n")
    assert counts == "tor1: none\ntor2: none\nspine1: none\nspine2: none\n"


def _check_captures(tmp_path: Path) -> None:
    """Check that both captures contain both directions and the clock of the model."""
    [folder] = (tmp_path / "runs").glob("cli-*/pcaps")
    assert sorted(path.name for path in folder.iterdir()) == ["h1-eth0.pcapng", "tor1-eth1.pcapng"]
    for path in folder.iterdir():
        frames = list(read_capture(path))
        for direction in (Direction.IN, Direction.OUT):
            assert [record for record in frames if record.direction is direction], (path.name, direction)
        clock = frames[0].interface.clock
        assert clock is not None
        assert clock.dilation == 10_000
        assert clock.model_us(frames[-1].time_ns) is not None
    sent = [record for record in read_capture(folder / "h1-eth0.pcapng") if record.direction is Direction.OUT]
    assert sum(len(record.frame) for record in sent) > 2_000, "the message is missing in the capture"


def test_every_verb_is_tried() -> None:
    from sfc_testbed.testbed.prompt.shell import Shell

    tried = {line.lstrip("-").split()[0] for line, _ in LINES}
    known = {name.removeprefix("do_") for name in dir(Shell) if name.startswith("do_")}
    assert known <= tried


def test_a_script_ends_at_the_first_line_that_fails(tmp_path: Path) -> None:
    """The number of the line is printed, later lines are not executed, and the exit code is 3; `-` allows a failure."""
    done = _execute(tmp_path, "-h1 false\n# a comment\n\nh1 false\nh1 echo later\n", *STAR)
    assert done.returncode == 3
    assert done.stdout.endswith("mininet> h1 false\nline 4 failed\n")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("none", "No such file or directory\n"), ("bytes", "is not UTF-8 text"), (".", "is not a regular file")],
)
def test_a_script_that_cannot_be_read_starts_nothing(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"nodes\n\xff\n")
    done = running.run("cli", "--exec", str(tmp_path / name))
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr


def test_nothing_started_in_hosts_outlives_the_prompt(tmp_path: Path) -> None:
    """Daemons, programs without the run's environment, and programs that ignore SIGHUP are ended too."""
    marks = [str(tmp_path / name) for name in ("daemon", "bare", "deaf")]
    lines = [
        f"h1 setsid tail -f /dev/null --pid=1 {marks[0]} >/dev/null 2>&1 &",
        f"h2 env -i setsid tail -f /dev/null --pid=1 {marks[1]} >/dev/null 2>&1 &",
        f"h3 nohup tail -f /dev/null --pid=1 {marks[2]} >/dev/null 2>&1 &",
        f"sh timeout 30 sh -c 'until [ $(pgrep -fc \"^tail .*{tmp_path}\") -eq 3 ]; do sleep 0.1; done'",
        "sh echo all run",
    ]
    done = _execute(tmp_path, "".join(f"{line}\n" for line in lines), *STAR)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("all run\n")
    left = subprocess.run(["pgrep", "-f", f"tail .*{tmp_path}"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_a_dead_agent_is_one_line(tmp_path: Path) -> None:
    children = "[each for each in psutil.Process().children() if 'sfc_testbed.hosts.agent' in each.cmdline()]"
    kill = f"px import psutil; [each.kill() for each in {children}]"
    done = _execute(tmp_path, f"{kill}\nsh sleep 1\n-flows\n-send h1 h2 1KB\nqueues\n", *STAR)
    assert done.returncode == 0, done.stdout
    gone = (
        r"agent\d was ended by SIGKILL \(.*\); the NICs of h\d.* are gone with it, and no verb starts it again: `exit`"
    )
    assert re.search(rf"-flows\n{gone}.*\nmininet> -send h1 h2 1KB\n{gone}", done.stdout)
