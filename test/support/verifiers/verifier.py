"""PyJWT as a program: for each line of JSON, prints one line, which is empty for a good token and else says what is wrong."""

import datetime
import json
import sys
import time

import jwt

plan = json.loads(sys.argv[1])
ahead = 0


class OwnTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=ahead)


# PyJWT takes no clock: neither for the times of a token nor for its cache.
jwt.api_jwt.datetime = OwnTime
elapsed = time.monotonic
time.monotonic = lambda: elapsed() + ahead

client = jwt.PyJWKClient(plan["jwksUri"] + "?by=PyJWT", lifespan=plan["maximumAge"])


def refusal_of(token):
    try:
        jwt.decode(
            token,
            client.get_signing_key_from_jwt(token).key,
            algorithms=["ES256", "EdDSA", "RS256", "PS256"],
            issuer=plan["issuer"],
            audience=plan["audience"],
            leeway=plan["tolerance"],
            options={"require": ["iss", "sub", "aud", "exp", "iat", "jti"]},
        )
        return ""
    except Exception as error:
        return " ".join(f"{type(error).__name__}: {error}".split())


for line in sys.stdin:
    message = json.loads(line)
    if "ahead" in message:
        ahead = message["ahead"]
        print("", flush=True)
    else:
        print(refusal_of(message["token"]), flush=True)
