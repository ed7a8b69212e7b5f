# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
#   docker build --tag sfc-testbed .                            # Debian 12; another with --build-arg BASE=ubuntu:24.04
#   docker run --rm --privileged sfc-testbed make demo
#   docker run --rm --privileged --volume "$PWD/runs:/sfc-testbed/runs" sfc-testbed ./runner.py run incast --scheme sfc
#
# A live run needs --privileged, because it makes namespaces, links and mounts. Instead of --privileged it can have the
# capabilities SYS_ADMIN, NET_ADMIN, SYS_NICE and SYS_PTRACE, --security-opt seccomp=unconfined and --security-opt
# systempaths=unconfined. If the kernel divides real-time among control groups (RT_GROUP_SCHED), dockerd also needs
# --cpu-rt-runtime=900000 and docker run --cpu-rt-runtime=800000. Runs on the virtual clock need none of these options.
ARG BASE=debian:12
FROM ${BASE}

RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ca-certificates make > /dev/null && \
    rm -rf /var/lib/apt/lists/*

WORKDIR /sfc-testbed

# Only the files that the set-up reads are copied first, so that an edit of other files does not repeat the set-up. For pip
# it is enough that the packages exist.
ENV PIP_NO_CACHE_DIR=1
COPY Makefile README.md pyproject.toml ./
COPY tools/provision.sh tools/progress.sh tools/
COPY sfc_testbed/__init__.py sfc_testbed/
COPY softswitch/pyproject.toml softswitch/README.md softswitch/LICENSE softswitch/
COPY softswitch/src/softswitch/__init__.py softswitch/src/softswitch/
RUN mkdir src && ln -s ../sfc_testbed src && make .venv/ready && rm -rf /var/lib/apt/lists/*

COPY . .
RUN make setup

CMD ["make", "demo"]
