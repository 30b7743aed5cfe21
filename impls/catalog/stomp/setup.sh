#!/bin/sh
# Fetches the client libraries that the programs in this folder are written around, from the usual registries, into .lib
# here.
#
#   setup.sh            all of them
#   setup.sh go java    only these: python (stomp.py 9.0.0, stompest 2.3.0), node (@stomp/stompjs 7.5.0, stompit 1.0.0),
#                       go (go-stomp 3.1.3), java (Vert.x 5.0.7), rust (async-stomp 0.7.0)
#
# Nothing is installed into the system. Each needs the tools of its language; java also needs Maven. What Ruby and Perl
# need comes from the system's packages: ruby-stomp, libnet-stomp-perl.
set -eu
cd "$(dirname "$0")"
mkdir -p .lib

java_library() {
    mkdir -p .lib/java/classes
    cat > .lib/java/pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>testee</groupId><artifactId>stomp</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>io.vertx</groupId><artifactId>vertx-stomp</artifactId><version>5.0.7</version>
  </dependency></dependencies>
</project>
POM
    mvn -q -f .lib/java/pom.xml dependency:copy-dependencies -DoutputDirectory=jars
    javac -nowarn -cp ".lib/java/jars/*" -d .lib/java/classes ../../kits/java/Kit.java java/OnVertx.java
}

node_libraries() {
    mkdir -p .lib/node
    npm install --silent --no-fund --no-audit --prefix .lib/node \
        @stomp/stompjs@7.5.0 @stomp/tcp-wrapper@1.0.1 stompit@1.0.0
}

for what in ${*:-python node go java rust}; do
    case $what in
        python) python3 -m pip install --quiet --upgrade --target .lib/python stomp.py==9.0.0 stompest==2.3.0 ;;
        node) node_libraries ;;
        go) cp ../../kits/go/kit.go go/gostomp/ && (cd go && go build -o ../.lib/go/ ./...) ;;
        java) java_library ;;
        rust) cargo build --quiet --release --manifest-path rust/Cargo.toml --target-dir .lib/rust ;;
        *) echo "setup.sh: $what is unknown; write python, node, go, java or rust" >&2; exit 2 ;;
    esac
done
