"""A device with oauthlib: prints its user code, polls, and prints the outcome of a guarded request."""

import json
import sys
import time
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from oauthlib.oauth2 import DeviceClient, OAuth2Error

issuer, client_id = sys.argv[1:]


def send(url, body=None, headers=None):
    try:
        with urlopen(Request(url, body and body.encode(), headers or {})) as response:
            return response.status, response.read().decode()
    except HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def tell(**facts):
    print(json.dumps(facts), flush=True)


metadata = json.loads(send(f"{issuer}/.well-known/oauth-authorization-server")[1])
body = urlencode({"client_id": client_id, "scope": "photos:read"})
device = json.loads(send(metadata["device_authorization_endpoint"], body)[1])
tell(user_code=device["user_code"])

client = DeviceClient(client_id)
poll = client.prepare_request_body(device["device_code"], include_client_id=True)
heard = []
for _ in range(60):
    time.sleep(device["interval"])
    status, answer = send(metadata["token_endpoint"], poll)
    try:
        client.parse_request_body_response(answer)
        break
    except OAuth2Error as error:
        heard.append(error.error)
        if error.error not in ("authorization_pending", "slow_down"):
            break

outcome = None
if client.access_token:
    url, headers, _ = client.add_token(f"{issuer}/photos", token_placement="auth_header")
    outcome = send(url, headers=headers)[0]
tell(heard=heard, photos=outcome)
