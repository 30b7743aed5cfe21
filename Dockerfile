# The suite in a container: judges what it can reach from there, or what is mounted.
#
#   docker build -t wireproof .
#   docker run --rm --network host -v "$PWD:/work" wireproof stomp://localhost:61613
#
# BASE is any image that has Python 3.11 or newer with its module venv; PIP holds options of pip, such as
# "--no-index --find-links=/suite/wheels" where no index can be reached.
ARG BASE=python:3.11-slim
FROM ${BASE} AS built
ARG EXTRAS=pulsar
ARG PIP=
COPY . /suite
RUN python3 -m venv /opt/wireproof \
 && /opt/wireproof/bin/pip install --no-cache-dir --disable-pip-version-check ${PIP} "/suite[${EXTRAS}]"

FROM ${BASE}
COPY --from=built /opt/wireproof /opt/wireproof
ENV PATH=/opt/wireproof/bin:$PATH PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=/tmp
WORKDIR /work
ENTRYPOINT ["wireproof"]
CMD ["--help"]
