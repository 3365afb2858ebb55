# Everything that the tutorial needs, but the tutorial: `make container` and .devcontainer bring that. Not in it: a browser and clang,
# which few tests need.
FROM debian:trixie-slim

RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git less make

# The CUDA toolkit comes from the wheels, which hold what the tutorial needs and no more.
WORKDIR /opt/tutorial
COPY scripts scripts
RUN PIP_NO_CACHE_DIR=1 scripts/setup && scripts/setup test docs report grade teaching-kit && rm -rf /var/lib/apt/lists/*
RUN ln -s /opt/tutorial/build/toolkit/cuda /usr/local/cuda
ENV PATH=/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

RUN useradd --create-home --shell /bin/bash learner
USER learner
WORKDIR /tutorial
CMD ["bash"]
