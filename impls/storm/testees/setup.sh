#!/bin/sh
# Fetches the libraries that the programs in this folder are written around, from the usual registries, into .lib here.
#
#   setup.sh               all of them
#   setup.sh python java   only these: python (pystorm 3.1.4, streamparse 5.0.1), java (storm-client 2.8.2, and
#                          storm.py of multilang-python)
#
# Nothing is installed into the system. python needs pip, java needs a JDK and Maven.
set -eu
cd "$(dirname "$0")"
mkdir -p .lib

for what in ${*:-python java}; do
    case $what in
        python)
            "${PYTHON:-python3}" -m pip install -q --target .lib/pystorm pystorm==3.1.4
            "${PYTHON:-python3}" -m pip install -q --target .lib/streamparse streamparse==5.0.1
            ;;
        java)
            mkdir -p .lib/storm2/classes
            cat > .lib/storm2/pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>testee</groupId><artifactId>storm2</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.storm</groupId><artifactId>storm-client</artifactId><version>2.8.2</version></dependency>
    <dependency><groupId>org.apache.storm</groupId><artifactId>multilang-python</artifactId><version>2.8.2</version></dependency>
  </dependencies>
</project>
POM
            mvn -q -f .lib/storm2/pom.xml dependency:copy-dependencies -DoutputDirectory=jars
            (cd .lib && unzip -o -q storm2/jars/multilang-python-2.8.2.jar resources/storm.py)
            javac -nowarn -proc:none -cp ".lib/storm2/jars/*" -d .lib/storm2/classes java/StormHost.java
            ;;
        *) echo "setup.sh: $what is unknown; write python or java" >&2; exit 2 ;;
    esac
done
