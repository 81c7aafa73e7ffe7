#!/usr/bin/env python3
"""chat_server.py PORT_FILE [--slow] [--echo] [--tls=PEM] [--log=FILE] [--bodies=FILE] -- a server as OpenAI's is.

Writes its port into PORT_FILE. An answer is a stream of a few words; --slow says the first ones and
then waits for the other side to go away. --echo says no with status 401, and what it was sent in
the header Authorization. --tls: over TLS, with the key and certificate of that file. --log: a line
for each request, with its path, its protocol and whether a key came with it. --bodies: what was asked,
a line for each request.
"""
import http.server
import json
import os
import ssl
import sys
import time


OPTIONS = dict(word.lstrip('-').split('=', 1) for word in sys.argv[2:] if '=' in word)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length', '0')))
        if 'bodies' in OPTIONS:
            with open(OPTIONS['bodies'], 'ab') as log:
                log.write(body.replace(b'\n', b' ') + b'\n')
        if 'log' in OPTIONS:
            with open(OPTIONS['log'], 'a', encoding='utf-8') as log:
                key = 'key' if self.headers.get('Authorization') else 'none'
                log.write(f'{self.path} {self.request_version} {key}\n')
        if '--echo' in sys.argv:
            return self.refuse()
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        for word in ['It ', 'is ', 'on ', 'its ', 'way.']:
            self.say({'choices': [{'index': 0, 'delta': {'content': word}}]})
            if '--slow' in sys.argv and word == 'is ':
                return self.wait()
        self.say({'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}],
                  'usage': {'prompt_tokens': 90, 'completion_tokens': 5}})
        self.wfile.write(b'data: [DONE]\n\n')

    def refuse(self):
        body = json.dumps({'error': {'message': 'bad key: ' + self.headers['Authorization']}}).encode()
        self.send_response(401)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say(self, event):
        self.wfile.write(b'data: ' + json.dumps(event).encode() + b'\n\n')
        self.wfile.flush()

    def wait(self):
        for _ in range(600):  # until nobody listens
            try:
                self.wfile.write(b': still here\n\n')
                self.wfile.flush()
            except OSError:
                return
            time.sleep(0.1)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # somebody went away


server = Server(('127.0.0.1', 0), Handler)
if 'tls' in OPTIONS:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(OPTIONS['tls'])
    # Who is refused goes away in the middle of the handshake: that is for the thread to see.
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
with open(sys.argv[1] + '.new', 'w', encoding='ascii') as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + '.new', sys.argv[1])
server.serve_forever()
