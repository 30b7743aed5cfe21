"""The same small testee in five languages, each on its kit: what the kits do is tried without any library."""

from __future__ import annotations

PYTHON = """
import threading, time
import kit

inbox, handles = kit.Inbox(), kit.Handles()

def steps(given):
    done = []
    kit.note("steps", count=len(given["steps"]))
    kit.run(given["steps"], {"emit": lambda step: done.append(step["tuple"])})
    return done

def refuse(given):
    raise kit.Unsupported

def fail(given):
    raise ValueError(given["why"])

def slow(given):
    inbox.take(5)
    return "late"

def wake(given):
    print("a library prints", flush=True)
    inbox.put("now")
    kit.event("woken", by="wake")
    return None

kit.serve({
    "echo": lambda given: given["value"], "size": lambda given: len(bytes.fromhex(given["body_hex"])),
    "refuse": refuse, "fail": fail, "odd": lambda given: {1, 2}, "slow": slow, "wake": wake, "steps": steps,
    "keep": lambda given: handles.keep(given["value"]), "get": lambda given: handles[given["handle"]],
    "record": lambda given: kit.steps_of_record(kit.decoded(given["data"])),
    "tuple": lambda given: kit.steps_of_tuple(given["values"]),
    "command": lambda given: kit.steps_of_command(given["conf"], given["command"], given["nexts"]),
    "place": lambda given: list(kit.place(given["address"])),
}, at_once=["wake"])
"""
JAVASCRIPT = """
import * as kit from "./kit.mjs";

const inbox = new kit.Inbox(), handles = new kit.Handles();

await kit.serve({
  echo: (given) => given.value,
  size: (given) => Buffer.from(given.body_hex, "hex").length,
  refuse() { throw new kit.Unsupported(); },
  fail(given) { throw new Error(given.why); },
  odd: () => 1n,
  async slow() { await inbox.take(5000); return "late"; },
  wake() {
    console.log("a library prints");
    process.stdout.write("a library prints\\n");
    inbox.put("now");
    kit.event("woken", { by: "wake" });
  },
  async steps(given) {
    const done = [];
    kit.note("steps", { count: given.steps.length });
    await kit.run(given.steps, { emit: (step) => done.push(step.tuple) });
    return done;
  },
  keep: (given) => handles.keep(given.value),
  get: (given) => handles.get(given.handle),
  record: (given) => kit.stepsOfRecord(kit.decoded(given.data)),
  tuple: (given) => kit.stepsOfTuple(given.values),
  command: (given) => kit.stepsOfCommand(given.conf, given.command, given.nexts),
  place: (given) => kit.place(given.address),
}, ["wake"]);
"""
GO = """
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

func main() {
	box, kept := newInbox[string](), handles[any]{}
	serve(map[string]op{
		"echo": func(given request) (any, error) { return given["value"], nil },
		"size": func(given request) (any, error) {
			octets, err := given.octets("body_hex")
			return len(octets), err
		},
		"refuse": func(request) (any, error) { return nil, errUnsupported },
		"fail": func(given request) (any, error) {
			if given.text("why") == "panic" {
				panic("panic")
			}
			return nil, errors.New(given.text("why"))
		},
		"odd": func(request) (any, error) { return func() {}, nil },
		"slow": func(request) (any, error) {
			_, _, err := box.take(5 * time.Second)
			return "late", err
		},
		"wake": func(request) (any, error) {
			fmt.Println("a library prints")
			box.put("now")
			event("woken", map[string]any{"by": "wake"})
			return nil, nil
		},
		"steps": func(given request) (any, error) {
			done := []any{}
			steps := stepsIn(given["steps"])
			note("steps", map[string]any{"count": len(steps)})
			err := run(steps, map[string]func(step) error{"emit": func(each step) error {
				done = append(done, each["tuple"])
				return nil
			}})
			return done, err
		},
		"keep": func(given request) (any, error) { return kept.keep(given["value"]), nil },
		"get":  func(given request) (any, error) { return kept.get(given.text("handle")) },
		"record": func(given request) (any, error) {
			octets, err := decoded(given.text("data"))
			if found := stepsOfRecord(octets); found != nil {
				return found, err
			}
			return []step{}, err
		},
		"tuple": func(given request) (any, error) {
			values, _ := given["values"].([]any)
			if found, is := stepsOfTuple(values); is {
				return found, nil
			}
			return nil, nil
		},
		"command": func(given request) (any, error) {
			conf, _ := given["conf"].(map[string]any)
			nexts, _ := given["nexts"].(json.Number).Int64()
			if found := stepsOfCommand(conf, given.text("command"), int(nexts)); found != nil {
				return found, nil
			}
			return []step{}, nil
		},
		"place": func(given request) (any, error) {
			host, port := place(given.text("address"))
			return []any{host, port}, nil
		},
	}, "wake")
}
"""
JAVA = """
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kit.Kit;

public final class Testee {
  @SuppressWarnings("unchecked")
  public static void main(String[] arguments) throws Exception {
    Kit.Inbox<String> inbox = new Kit.Inbox<>();
    Kit.Handles<Object> handles = new Kit.Handles<>();
    Map<String, Kit.Op> ops = new HashMap<>();
    ops.put("echo", given -> given.get("value"));
    ops.put("size", given -> Kit.octets((String) given.get("body_hex")).length);
    ops.put("refuse", given -> { throw new Kit.Unsupported(); });
    ops.put("fail", given -> { throw new IllegalStateException((String) given.get("why")); });
    ops.put("odd", given -> new Object());
    ops.put("slow", given -> { inbox.take(5000); return "late"; });
    ops.put("wake", given -> {
      System.out.println("a library prints");
      inbox.put("now");
      Kit.event("woken", Map.of("by", "wake"));
      return null;
    });
    ops.put("steps", given -> {
      List<Object> done = new ArrayList<>();
      List<Map<String, Object>> steps = (List<Map<String, Object>>) given.get("steps");
      Kit.note("steps", Map.of("count", steps.size()));
      Kit.run(steps, Map.of("emit", step -> done.add(step.get("tuple"))));
      return done;
    });
    ops.put("keep", given -> handles.keep(given.get("value")));
    ops.put("get", given -> handles.get(given.get("handle")));
    ops.put("record", given -> Kit.stepsOfRecord(Kit.decoded((String) given.get("data"))));
    ops.put("tuple", given -> Kit.stepsOfTuple((List<Object>) given.get("values")));
    ops.put("command", given -> Kit.stepsOfCommand((Map<String, Object>) given.get("conf"),
        (String) given.get("command"), ((Number) given.get("nexts")).intValue()));
    ops.put("place", given -> {
      Map.Entry<String, Integer> found = Kit.place((String) given.get("address"));
      return List.of(found.getKey(), found.getValue());
    });
    Kit.serve(ops, "wake");
  }
}
"""
RUBY = """
require_relative 'kit'

inbox, handles = Kit::Inbox.new, Kit::Handles.new
steps = lambda do |given|
  done = []
  Kit.note('steps', 'count' => given['steps'].length)
  Kit.run(given['steps'], 'emit' => ->(step) { done << step['tuple'] })
  done
end
wake = lambda do |_|
  puts 'a library prints'
  inbox.put('now')
  Kit.event('woken', 'by' => 'wake')
  nil
end
Kit.serve({
  'echo' => ->(given) { given['value'] },
  'size' => ->(given) { [given['body_hex']].pack('H*').bytesize },
  'refuse' => ->(_) { raise Kit::Unsupported },
  'fail' => ->(given) { raise given['why'] },
  'odd' => ->(_) { Float::NAN },
  'slow' => ->(_) { inbox.take(5); 'late' },
  'wake' => wake, 'steps' => steps,
  'keep' => ->(given) { handles.keep(given['value']) },
  'get' => ->(given) { handles[given['handle']] },
  'record' => ->(given) { Kit.steps_of_record(Kit.decoded(given['data'])) },
  'tuple' => ->(given) { Kit.steps_of_tuple(given['values']) },
  'command' => ->(given) { Kit.steps_of_command(given['conf'], given['command'], given['nexts']) },
  'place' => ->(given) { Kit.place(given['address']) }
}, at_once: %w[wake])
"""
TESTEES = {"python": PYTHON, "javascript": JAVASCRIPT, "go": GO, "java": JAVA, "ruby": RUBY}
FILTERS = {
    "python": 'import kit\n\ndef again(octets):\n    if octets == b"\\xc1":\n        raise ValueError("never\\nused")\n'
    "    return octets\n\nkit.serve_filter(again)\n",
    "javascript": 'import { serveFilter } from "./kit.mjs";\n\nawait serveFilter((octets) => {\n'
    '  if (octets.equals(Buffer.from("c1", "hex"))) throw new Error("never\\nused");\n  return octets;\n});\n',
    "go": "package main\n\nfunc main() {\n\tserveFilter(func(octets []byte) ([]byte, error) {\n"
    '\t\tif string(octets) == "\\xc1" {\n\t\t\tpanic("never\\nused")\n\t\t}\n\t\treturn octets, nil\n\t})\n}\n',
    "java": "import kit.Kit;\n\npublic final class Testee {\n  public static void main(String[] a) throws Exception {\n"
    '    Kit.serveFilter(octets -> {\n      if (Kit.hex(octets).equals("c1")) throw new Exception("never\\nused");\n'
    "      return octets;\n    });\n  }\n}\n",
    "ruby": "require_relative 'kit'\n\nKit.serve_filter do |octets|\n"
    '  raise "never\\nused" if octets == "\\xC1".b\n  octets\nend\n',
}
