# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
#   docker build --tag sfc-testbed .                            # Debian 12; --build-arg BASE=ubuntu:24.04 takes another
#   docker run --rm --privileged sfc-testbed make demo
#   docker run --rm --privileged --volume "$PWD/runs:/sfc-testbed/runs" sfc-testbed ./runner.py run incast --scheme sfc
#
# --privileged because a live run makes namespaces, links and mounts. Short of that it wants the capabilities SYS_ADMIN,
# NET_ADMIN, SYS_NICE and SYS_PTRACE, --security-opt seccomp=unconfined and --security-opt systempaths=unconfined. Where
# the kernel shares real-time out among control groups (RT_GROUP_SCHED), either way dockerd wants --cpu-rt-runtime=900000
# and docker run --cpu-rt-runtime=800000. Runs on the virtual clock do without all of it.
ARG BASE=debian:12
FROM ${BASE}

RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ca-certificates make > /dev/null && \
    rm -rf /var/lib/apt/lists/*

WORKDIR /sfc-testbed

# What the set-up reads comes first, so that an edit of anything else does not repeat it. That a package is there is all that
# pip wants to know of it.
ENV PIP_NO_CACHE_DIR=1
COPY Makefile README.md pyproject.toml ./
COPY tools/provision.sh tools/progress.sh tools/
COPY compiled/__init__.py compiled/
COPY softswitch/__init__.py softswitch/
RUN make .venv/ready && rm -rf /var/lib/apt/lists/*

COPY . .
RUN make setup

CMD ["make", "demo"]
