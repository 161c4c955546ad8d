#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a model, so that real agents run without one:  model.py PORT COMMAND...
Serves Anthropic's messages and OpenAI's responses, as streams. It requests one shell command after the other, then it ends. With DOCS_VERBOSE set it
shows each request's end on standard error."""

import http.server
import json
import os
import sys

END = "The commands have ended."


def message(body, commands):
    """Anthropic's messages: the tool Bash for each command that has no result yet."""
    results = [part for entry in body.get("messages", []) if isinstance(entry.get("content"), list)
               for part in entry["content"] if part.get("type") == "tool_result"]  # fmt: skip
    tools = [tool.get("name") for tool in body.get("tools", [])]
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [], "stop_reason": None,
             "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    if "Bash" in tools and len(results) < len(commands):
        block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": "Bash", "input": {}}
        words = json.dumps({"command": commands[len(results)], "description": "as requested"})
        delta, reason = {"type": "input_json_delta", "partial_json": words}, "tool_use"
    else:
        block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": END}, "end_turn"
    yield {"type": "message_start", "message": start}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def response(body, commands):
    """OpenAI's responses: the shell tool, by the name that this version of Codex gives it."""
    results = [item for item in body.get("input", []) if isinstance(item, dict) and item.get("type", "").endswith("_output")]
    tools = [tool.get("name") or tool.get("type") for tool in body.get("tools", [])]
    answer = {"id": "resp_1", "object": "response", "status": "completed", "output": [],
              "usage": {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}}  # fmt: skip
    if tools and len(results) < len(commands):
        command, number = commands[len(results)], len(results)
        forms = {"exec_command": {"cmd": command, "yield_time_ms": 120000}, "shell_command": {"command": command, "timeout_ms": 120000}}
        name = next((name for name in forms if name in tools), "shell")
        words = forms.get(name, {"command": ["bash", "-lc", command], "timeout_ms": 120000})
        item = {"type": "function_call", "name": name, "arguments": json.dumps(words), "call_id": f"c{number}"}
    else:
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": END}]}
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    yield {"type": "response.output_item.done", "item": item}
    yield {"type": "response.completed", "response": answer}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    commands, verbose = [], False

    def reply(self, kind, data):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):  # pylint: disable=invalid-name
        self.reply("application/json", b'{"data":[],"models":[]}')

    def do_POST(self):  # pylint: disable=invalid-name
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self.reply("application/json", b'{"input_tokens":1}')
            return
        if self.verbose:
            print(json.dumps(body.get("messages", body.get("input")))[-2000:], file=sys.stderr, flush=True)
        events = message(body, self.commands) if "messages" in self.path else response(body, self.commands)
        self.reply("text/event-stream", "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode())

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


if __name__ == "__main__":
    Model.commands, Model.verbose = sys.argv[2:], "DOCS_VERBOSE" in os.environ
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
