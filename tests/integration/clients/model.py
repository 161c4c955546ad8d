#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that calls the tools that it was told to, by the interfaces of Anthropic (messages) and OpenAI (responses).

model.py CALLS RESULTS      prints the port on 127.0.0.1

CALLS is a JSON file with a list of {"tool": NAME, "input": {...}}; the output of each call is a line of JSON in RESULTS.
Each request carries the outputs of all calls so far, and so says which call comes next."""

import http.server
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    CALLS = json.load(file)


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events):
        self.send("".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode(), "text/event-stream")

    def do_GET(self):
        self.send(b'{"data": [], "models": []}')

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self.send(b'{"input_tokens": 1}')
        elif "messages" in self.path:
            self.messages(request)
        elif "responses" in self.path:
            self.responses(request)
        else:
            self.send(b"{}")

    @staticmethod
    def next_call(outputs):
        if outputs:
            with open(sys.argv[2], "a", encoding="utf-8") as results:
                print(json.dumps({"call": len(outputs) - 1, "output": outputs[-1]}), file=results)
        return CALLS[len(outputs)] if len(outputs) < len(CALLS) else None

    def messages(self, request):
        contents = [m["content"] for m in request.get("messages", []) if isinstance(m.get("content"), list)]
        outputs = [c.get("content") for content in contents for c in content if c.get("type") == "tool_result"]
        # A request without tools is for a title or a summary.
        call = self.next_call(outputs) if request.get("tools") else None
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "content": []}
        message.update(stop_reason=None, stop_sequence=None, usage={"input_tokens": 1, "output_tokens": 1})
        if call:
            block = {"type": "tool_use", "id": f"toolu_{len(outputs)}", "name": call["tool"], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        self.stream(
            [
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
                {"type": "message_stop"},
            ]
        )

    def responses(self, request):
        outputs = [i.get("output") for i in request.get("input", []) if isinstance(i, dict) and i.get("type", "").endswith("_output")]
        call = self.next_call(outputs) if request.get("tools") else None
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
        response = {"id": "resp_1", "object": "response", "status": "completed", "output": [], "usage": usage}
        if call:
            item = {"type": "function_call", "name": call["tool"], "arguments": json.dumps(call["input"]), "call_id": f"c{len(outputs)}"}
        else:
            item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
        self.stream(
            [
                {"type": "response.created", "response": {"id": "resp_1"}},
                {"type": "response.output_item.done", "item": item},
                {"type": "response.completed", "response": response},
            ]
        )


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
