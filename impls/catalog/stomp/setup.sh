#!/bin/sh
# Fetches the client libraries that the programs in this folder are written around, from the usual registries, into .lib
# here.
#
#   setup.sh            all of them
#   setup.sh go java    only these: python (stomp.py 9.0.0, stompest 2.3.0), node (@stomp/stompjs 7.5.0, stompit 1.0.0),
#                       go (go-stomp 3.1.3), java (Vert.x 5.0.7), rust (async-stomp 0.7.0),
#                       artemis (ActiveMQ Artemis 2.42.0, a server)
#
# Nothing is installed into the system. Each needs the tools of its language; java and artemis also need Maven. What Ruby,
# Perl and PHP need comes from the system's packages: ruby-stomp, libnet-stomp-perl, php-stomp.
set -eu
cd "$(dirname "$0")"
mkdir -p .lib

# Fetches Maven artifacts GROUP:NAME:VERSION into .lib/FOLDER/jars, and compiles a program around them:
# java_program FOLDER PROGRAM ARTIFACT... (with the kit, which programs around clients need)
java_program() {
    folder=.lib/$1 program=java/$2.java
    shift 2
    mkdir -p "$folder/classes"
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo '<groupId>testee</groupId><artifactId>stomp</artifactId><version>1</version><dependencies>'
        for artifact; do
            echo "$artifact" | sed 's|\(.*\):\(.*\):\(.*\)|<dependency><groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version></dependency>|'
        done
        echo '</dependencies></project>'
    } > "$folder/pom.xml"
    mvn -q -f "$folder/pom.xml" dependency:copy-dependencies -DoutputDirectory=jars
    javac -nowarn -cp "$folder/jars/*" -d "$folder/classes" ../../kits/java/Kit.java "$program"
}

node_libraries() {
    mkdir -p .lib/node
    npm install --silent --no-fund --no-audit --prefix .lib/node \
        @stomp/stompjs@7.5.0 @stomp/tcp-wrapper@1.0.1 stompit@1.0.0
}

for what in ${*:-python node go java rust artemis}; do
    case $what in
        python) python3 -m pip install --quiet --upgrade --target .lib/python stomp.py==9.0.0 stompest==2.3.0 ;;
        node) node_libraries ;;
        go) cp ../../kits/go/kit.go go/gostomp/ && (cd go && go build -o ../.lib/go/ ./...) ;;
        java) java_program java OnVertx io.vertx:vertx-stomp:5.0.7 ;;
        artemis)
            java_program artemis ArtemisStomp \
                org.apache.activemq:artemis-server:2.42.0 org.apache.activemq:artemis-stomp-protocol:2.42.0 ;;
        rust) cargo build --quiet --release --manifest-path rust/Cargo.toml --target-dir .lib/rust ;;
        *) echo "setup.sh: $what is unknown; write python, node, go, java, rust or artemis" >&2; exit 2 ;;
    esac
done
