/**
 * Assertions that other programs made once, with keys of theirs that were thrown away: valid from ten seconds before noon
 * (1 800 000 000) to 300 seconds after. PyJWT is Debian's python3-jwt, `jwt.encode(claims, key, algorithm, headers)`; the
 * last one was put together in a shell, with openssl 3.0.19 and `openssl dgst -sha256 -sign`.
 */
export const foreignJwts = [
  {
    title: 'PyJWT 2.6.0, PS384, without kid',
    jwk: {
      kty: 'RSA',
      n: 'oY2bnZBYYDRtWJbsaaBQv_cFwXfflPirp7vdld8W1Hq6SlPEqZXsvC9Z9lnocg1_NIYBxVm4HOKpVunel1v0zegLNytdDkrYQknMYEKfufDq1MGxyryS3Sf-lf2fmiV6RaBiw79myJiA5gw7sS1HA0hXuWWJ1Wgq0FcIaC2P3usOUzoIezxGhMMwBw0MvaQPr9bhJwC1t3firV1cVT3ur7xh7dhg5vWhn-hVeKTg7KD9kAh4NTuuXr9ysY7kyU-4kT-zHfn6_FAWuYFHMMObAeDLlx4EAgM1DbZ3tqpUSAXrtJpRcMZ9rXT7ry43OTGPGTvlZYskKZMZbTwBauB2CQ',
      e: 'AQAB',
    },
    assertion:
      'eyJhbGciOiJQUzM4NCIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWxpY2VAaXNzdWVyLmV4YW1wbGUiLCJhdWQiOiJodHRwOi8vbG9jYWxob3N0IiwiZXhwIjoxODAwMDAwMzAwLCJpYXQiOjE3OTk5OTk5OTAsImp0aSI6InB5LTIifQ.IZi7WraMAEuqSDmgGwwJUGdx5E5xaSwA0WMyslMhhU81-UymZQ_a4pfsjZ1v1wYe8JtJSvQWCZIxWeAHiifiR2qLsRJyccyIN3rklBEixndJLuQZMODK4aMEG18O7TECVEg1SK-s4dXa6rvLknTJAh8fVzbgObzettYtWrX1vsAtKWOuoYEWKvh8f8-NKWaQzIziN7vZrMk247u98coeTa6Y6a9HfEtYcR4R67Y5F03JCPU9Vq_Tb7fcP8mTS0tc91PY-xZYPaPZ59RxHhCC5flDj4VGSC8A6NazemFz3TlzzGfXphr3BFGctnGFOhIlj9oojdjrYJQ4tThX5RKFHw',
  },
  {
    title: 'PyJWT 2.6.0, ES256',
    jwk: {
      kty: 'EC',
      crv: 'P-256',
      x: 'W9EGV7V4JpYqfmt0Ym8vwguZJMQbx3jMeojoNIjqYFc',
      y: 'F_vmBITv6DRUSa_-pTtWzsQZxK1DdUrj4gPYkuQD9JE',
      kid: 'python-ec',
    },
    assertion:
      'eyJhbGciOiJFUzI1NiIsImtpZCI6InB5dGhvbi1lYyIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWxpY2VAaXNzdWVyLmV4YW1wbGUiLCJhdWQiOiJodHRwOi8vbG9jYWxob3N0IiwiZXhwIjoxODAwMDAwMzAwLCJpYXQiOjE3OTk5OTk5OTAsImp0aSI6InB5LTMifQ.y9di4s1We81wF_FwejQSOwarWWyyMa-GSZ-lPlfL-yw1__nYip9OLGDq5TI-X-zCngYaCAgrwZjvqPfDJ3po9Q',
  },
  {
    title: 'PyJWT 2.6.0, EdDSA',
    jwk: {
      kty: 'OKP',
      crv: 'Ed25519',
      x: 'FbyyMCHNb2u38NTG0oLepJjWAmKBoe9o7KZT-eK4r8o',
      kid: 'python-ed',
    },
    assertion:
      'eyJhbGciOiJFZERTQSIsImtpZCI6InB5dGhvbi1lZCIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWxpY2VAaXNzdWVyLmV4YW1wbGUiLCJhdWQiOiJodHRwOi8vbG9jYWxob3N0IiwiZXhwIjoxODAwMDAwMzAwLCJpYXQiOjE3OTk5OTk5OTAsImp0aSI6InB5LTQifQ.Mc_LgVxkhzT50o_lyiHxum2MGAyj-DhrvC4nYp-anyy_gJHGgnU9XlIi9W4auSq-S_DCIMaK8FCyFjFA1W2NDQ',
  },
  {
    title: 'openssl dgst -sha256 -sign, RS256',
    jwk: {
      kty: 'RSA',
      kid: 'openssl',
      e: 'AQAB',
      n: 'v6y82Swfp5mGYGZasLhJXSKRusrDjj3CxStVABvmewSjBC6v7b1W7ZOeRmoH0zOyfL_Jx4TOUvraxPzPu0Y_5g_IGqp2yPXcc5IhQt26OyKfvOOSVf0RdwnMNtoI_YHPl9NdXWXcMw3RbbF2aiSyyTTa6dRyP_Lef7onANvhvVKNHm1MRVqciA4dMAXNFgfk9SRFX7olI9hY1xhKaWf2ZelNbr872_T3mxZ3LclKT6w5fL3f8DzQ1A95Xg3Y3SaM92FAGjdBi91Cr0PWsTMYz6QzV5pZf4ZLB3mrdXhyexBoPHLBcxTOCsi0YxwtDcLeYvegRtoQX8kroTHfXivZ1Q',
    },
    assertion:
      'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6Im9wZW5zc2wifQ.eyJpc3MiOiAiaHR0cHM6Ly9pc3N1ZXIuZXhhbXBsZSIsICJzdWIiOiAiYWxpY2VAaXNzdWVyLmV4YW1wbGUiLCAiYXVkIjogImh0dHA6Ly9sb2NhbGhvc3QiLCAiZXhwIjogMTgwMDAwMDMwMCwgImlhdCI6IDE3OTk5OTk5OTAsICJqdGkiOiAib3BlbnNzbC0xIn0.c-7Ht13QVy0IK5NDZ4xw2G_ul5E95271mEyQkN9Yn5_r_0c0Y1MB3bpnpv8weJbGTo43OaczB0yVA6JNdqlnykBGmEloRYUw4uO6uCfmB2MZq5EtICUU7YdTP5pJLBOlFYbpgRbCGuGpXKJwsE0p31dBkxPLiRuJCu8-1s_iviDP5amLRnJ7eiduNSaMfdQ04FzFGf6XHMFWu4HYai7b-nA0rZ1PENPz50aRxp95VWIX-0P98lNrCGjJ3mobHJ9hht6pdtcjVJXrdEzvAc45gQe3elcI5D05-Qw9Kr567fDzgywGe0XzPIlZKOPp-GUWAVthHXxSHu6reZ3NlORrVw',
  },
]
