#!/bin/sh
# Fetches what the catalogue's Pulsar manifests start, from the usual registries; nothing is installed into the system.
#
#   pulsar_setup.sh            the broker and the client
#   pulsar_setup.sh broker     Apache Pulsar's broker with all that it needs, into .lib here; needs a JDK and Maven
#   pulsar_setup.sh client     the official client, into the Python that runs (PYTHON names another one)
#   pulsar_setup.sh go         the Go client 0.19.0, into .lib here; needs Go
#
# PULSAR_VERSION chooses another broker. Safe to call again: what is there already is kept.
set -eu
cd "$(dirname "$0")"
version=${PULSAR_VERSION:-4.0.7}

broker() {
    folder=.lib/pulsar-$version
    [ -d "$folder/jars" ] && return
    mkdir -p "$folder"
    cat > "$folder/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>iut</groupId><artifactId>pulsar</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.apache.pulsar</groupId><artifactId>pulsar-broker</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
POM
    # Moved once it is complete: half a class path would be found, and used, for ever.
    mvn -q -B -f "$folder/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=fetched
    mv "$folder/fetched" "$folder/jars"
}

for what in ${*:-broker client}; do
    case $what in
        broker) broker ;;
        client) "${PYTHON:-python3}" -m pip install -q 'pulsar-client>=3.13,<4' ;;
        go) cp ../kits/go/kit.go pulsar/go/pulsargo/ && (cd pulsar/go && go build -o ../../.lib/ ./...) ;;
        *) echo "pulsar_setup.sh: $what is unknown; write broker, client or go" >&2; exit 2 ;;
    esac
done
