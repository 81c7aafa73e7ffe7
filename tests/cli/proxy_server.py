#!/usr/bin/env python3
"""proxy_server.py PORT_FILE LOG TARGET_PORT -- a proxy for CONNECT, to one server whatever is asked.

Each line of LOG is what a client said to the proxy itself: its request and its headers.
"""
import os
import socket
import sys
import threading


def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    head = b''
    while b'\r\n\r\n' not in head:
        piece = client.recv(4096)
        if not piece:
            return
        head += piece
    with open(sys.argv[2], 'a', encoding='utf-8') as log:
        log.write(head.decode('latin-1').replace('\r\n', '\n'))
    if not head.startswith(b'CONNECT '):
        client.sendall(b'HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n')
        client.close()
        return
    server = socket.create_connection(('127.0.0.1', int(sys.argv[3])))
    client.sendall(b'HTTP/1.1 200 Connected\r\n\r\n')
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)


listener = socket.create_server(('127.0.0.1', 0))
with open(sys.argv[1] + '.new', 'w', encoding='ascii') as file:
    file.write(str(listener.getsockname()[1]))
os.rename(sys.argv[1] + '.new', sys.argv[1])
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
