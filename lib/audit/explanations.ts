import type { Reason } from '../protocol/reasons'

interface Explanation {
  readonly rule: string
  readonly cure: string
}

type Key = Reason | 'origin_not_allowed' | `${Reason | 'origin_not_allowed'}/${string}`

type Entry = readonly [rule: string, cure: string]

const table = {
  // Requests of clients, and their owners.
  client_unknown: [
    'No client is registered under this client_id (RFC 6749 2.2).',
    'Compare client_id with the option clients, letter by letter. With a store of clients, check that server and registration use one store and one prefix.',
  ],
  client_disabled: [
    'The registration of the client says disabled.',
    'Enable the client, or use another one.',
  ],
  client_not_authenticated: [
    'The secret or proof does not belong to the client, or a client with credentials sent none (RFC 6749 2.3).',
    'Send the secret whose hash is registered in client_secret_hashes. In Basic, id and secret are form encoded first (RFC 6749 2.3.1).',
  ],
  client_method_not_registered: [
    'The registration names another method of authentication (RFC 7591 2, token_endpoint_auth_method).',
    'Let the client use the registered method, or change the registration.',
  ],
  no_client_authentication: [
    'The request names no client (RFC 6749 3.2.1).',
    'Send Authorization: Basic, or client_id and client_secret in the form. A public client sends client_id alone.',
  ],
  several_methods: [
    'A client uses one method of authentication in a request (RFC 6749 2.3).',
    'Send either the Basic header or client_secret in the form.',
  ],
  redirect_uri_mismatch: [
    'The redirect_uri must equal a registered one letter by letter (RFC 6749 3.1.2.3, RFC 9700 2.1), and at the token endpoint the one of the authorization request (RFC 6749 4.1.3).',
    'Send the registered URI, or add the URI to redirect_uris of the client.',
  ],
  'redirect_uri_mismatch/logout': [
    'The post_logout_redirect_uri must equal a registered one letter by letter (RP-Initiated Logout 1.0, 3).',
    'Send the registered URI, or add the URI to post_logout_redirect_uris of the client.',
  ],
  redirect_uri_missing: [
    'The request must name its redirect_uri: the client has not exactly one (RFC 6749 3.1.2.3), or the authorization request named one (RFC 6749 4.1.3).',
    'Send redirect_uri.',
  ],
  response_type_unknown: [
    'The server does not have this response_type (RFC 6749 3.1.1).',
    'Send response_type=code, or add the type to the option responseTypes.',
  ],
  response_type_not_registered: [
    'The registration of the client lacks this response type (RFC 7591 2).',
    'Add the type to response_types of the client.',
  ],
  parameter_missing: [
    'The request lacks this parameter, or sends it empty (RFC 6749 4.1.1 and 4.1.3).',
    'Send the parameter. The token endpoint takes a form (application/x-www-form-urlencoded), and no JSON.',
  ],
  parameter_malformed: [
    'A parameter comes once, form encoded in UTF-8 (RFC 6749 3.1 and 3.2).',
    'Send the parameter once.',
  ],
  body_type: [
    'The endpoint takes another type of body: a form in UTF-8 (RFC 6749 3.2), or JSON at endpoints such as registration.',
    'Send Content-Type: application/x-www-form-urlencoded, as URLSearchParams does; application/json where the endpoint takes JSON.',
  ],
  method_not_allowed: [
    'The endpoint does not take this method (RFC 6749 3.1 and 3.2; RFC 9110 15.5.6).',
    'Use the method that the header Allow of the response names: POST for tokens, GET or POST for authorization.',
  ],
  credential_in_query: [
    'A credential must not stand in a request URI (RFC 6749 2.3.1 and 3.2).',
    'Send the parameters in the body.',
  ],
  pkce_challenge_missing: [
    'The client must use PKCE (RFC 7636 4.4.1; option pkce).',
    'Send code_challenge with code_challenge_method=S256.',
  ],
  pkce_method_unsupported: [
    'The only method of PKCE is S256, and a request without a method means plain (RFC 7636 4.3).',
    'Send code_challenge_method=S256.',
  ],
  pkce_challenge_malformed: [
    'A code_challenge is BASE64URL(SHA-256(code_verifier)), 43 characters without padding (RFC 7636 4.2).',
    'Encode the digest as base64url, not as hex or base64.',
  ],
  pkce_verifier_wrong: [
    'SHA-256 of the code_verifier, as base64url, must equal the code_challenge of the authorization request (RFC 7636 4.6).',
    'Keep the verifier in the session that began the request. A second request in the same session must not overwrite it: keep one verifier for each state.',
  ],
  pkce_verifier_missing: [
    'The authorization request had a code_challenge (RFC 7636 4.5).',
    'Send code_verifier with the code.',
  ],
  pkce_verifier_malformed: [
    'A code_verifier has 43 to 128 characters of A-Z a-z 0-9 - . _ ~ (RFC 7636 4.1).',
    'Generate the verifier from 32 random bytes as base64url.',
  ],
  pkce_verifier_unexpected: [
    'The authorization request had no code_challenge (RFC 9700 4.8.2).',
    'Send code_challenge with the authorization request, too.',
  ],

  // Scope and resources.
  scope_missing: [
    'The request names no scope, and the server has no default (RFC 6749 3.3).',
    'Send scope, or set the option defaultScope.',
  ],
  scope_malformed: [
    'A scope is scope tokens with one space between two (RFC 6749 3.3).',
    'Separate the tokens by one space, not by commas.',
  ],
  scope_not_allowed: [
    'The registration of the client must have every requested scope (RFC 6749 3.3).',
    'Correct the spelling, letter case included, or add the scope to the registration of the client.',
  ],
  scope_exceeded: [
    'A refresh or an exchange gets no more than was granted (RFC 6749 6).',
    'Leave scope out, or ask the owner for more by a new authorization request.',
  ],
  scope_of_another_resource: [
    'A token has only scopes of its resource (RFC 8707 2).',
    'Send the resource that has the scope, leave scope out, or add the scope to the resource.',
  ],
  response_mode_unsupported: [
    'Each response type has its response modes (OAuth 2.0 Multiple Response Type Encoding Practices 2.1).',
    'Leave response_mode out. form_post needs formPost(), and a redirection URI of http or https.',
  ],
  resource_malformed: [
    'A resource is an absolute URI without a fragment (RFC 8707 2).',
    'Send the URI as the option resources writes it.',
  ],
  resource_not_approved: [
    'A later request gets only resources that were approved (RFC 8707 2.2).',
    'Send the resource with the authorization request, too, or leave it out.',
  ],
  resource_unknown: [
    'The parameter resource names no URI of the option resources (RFC 8707 2).',
    'Send one of the URIs, or add the resource.',
  ],
  resource_missing: [
    'The server has several resources and no default (RFC 8707 2).',
    'Send resource, or set defaultResource.',
  ],

  // Codes and refresh tokens.
  code_expired: [
    'A code is good for lifetimes.authorizationCode seconds (RFC 6749 4.1.2).',
    'Redeem the code at once. Compare the clocks of all processes. If the client is slow, raise lifetimes.authorizationCode (600 at most).',
  ],
  code_unknown: [
    'The store has no open authorization for this code (RFC 6749 4.1.2).',
    'Redeem a code at once: the store deletes it when lifetimes.authorizationCode is over (60 seconds by default). If it was in time, let all server processes share one store and one issuer: memory ends with its process. A code that was redeemed and revoked is unknown, too.',
  ],
  code_malformed: [
    'The value has not the form of a code of this server.',
    'Send code exactly as the redirect brought it, decoded once.',
  ],
  code_of_another_client: [
    'A code is for the client that asked for it (RFC 6749 4.1.3).',
    'Send the client_id of the authorization request.',
  ],
  code_replayed: [
    'A code is good once, and a second use ends its tokens (RFC 6749 4.1.2).',
    'Redeem the code once. Frameworks that render twice in development, and browsers that load the callback again, send it twice.',
  ],
  code_burnt: [
    'Five redemptions with a wrong proof end a code.',
    'Correct redirect_uri or code_verifier, and begin again.',
  ],
  refresh_token_reused: [
    'A rotated refresh token came again after the grace (RFC 9700 4.14.2), so its tokens ended.',
    'Store the newest refresh token of each response, and refresh in one place.',
  ],
  refresh_token_unknown: [
    'The store has no authorization for this refresh token.',
    'It ended, or the processes do not share one store and one issuer.',
  ],
  refresh_token_expired: [
    'A refresh token is good for lifetimes.refreshToken since the last refresh (RFC 6749 6).',
    'Ask the owner again, or raise lifetimes.refreshToken.',
  ],
  grant_expired: [
    'A grant ends lifetimes.grant after its approval, or the grant_lifetime of its client if that is shorter, however often it is refreshed.',
    'Ask the owner again, or raise lifetimes.grant and grant_lifetime.',
  ],
  grant_type_unknown: [
    'The server does not have this grant_type (RFC 6749 5.2).',
    'Correct the spelling, or add it to the option grantTypes.',
  ],
  grant_type_not_registered: [
    'The registration of the client lacks this grant type (RFC 7591 2).',
    'Add it to grant_types of the client.',
  ],
  client_not_confidential: [
    'Only a confidential client may use this grant or endpoint (RFC 6749 4.4).',
    'Register the client with credentials.',
  ],
  introspection_not_registered: [
    'Only a client with may_introspect may introspect (RFC 7662 2.1).',
    'Set may_introspect in the registration of the resource server.',
  ],

  // The consent page and the login.
  login_loop: [
    'The login sent the browser back three times within a minute, and the option resourceOwner found no owner.',
    'Let the login store the owner where resourceOwner reads it.',
  ],
  'login_loop/no_session': [
    'The login sent the browser back three times within a minute, and the request has no session.',
    'Mount the session middleware before oauth.router(): app.use(session(…)), then app.use(oauth.router()).',
  ],
  'login_loop/no_cookie': [
    'The login sent the browser back three times within a minute, and the browser sent no cookie.',
    'Set the cookie on the host of the issuer (localhost and 127.0.0.1 are two hosts), with SameSite=Lax, and without Secure over plain http. Behind a proxy, a Secure cookie needs trust proxy.',
  ],
  owner_not_logged_in: [
    'The option resourceOwner found no owner when the decision arrived.',
    'Check that the session lasts, and that its middleware runs for POST, too.',
  ],
  decision_fields_missing: [
    'The form of the consent page has a decision, and lacks the field authorization_request.',
    'Let the page of the option pages.consent send every field of view.fields, as hidden inputs, by POST to view.action.',
  ],
  authorization_request_not_open: [
    'The store has no open request for this consent page: it has expired (after lifetimes.authorizationRequest, 600 seconds by default), or it was answered before, or the store of this process never had it.',
    'Begin again at the client. If the page was fresh, compare the clocks of all processes, and let them share one store and one issuer: memory ends with its process.',
  ],
  authorization_request_expired: [
    'The decision came after lifetimes.authorizationRequest (600 seconds by default).',
    'Begin again at the client. If the page was fresh, compare the clocks of all processes.',
  ],
  decision_cross_site: [
    'A decision comes from the page of the issuer itself (RFC 6749 10.12).',
    'Open the server under the host of the issuer: localhost and 127.0.0.1 are two sites. A script of another origin cannot send the decision.',
  ],

  self_registered_share_full: [
    'One resource owner keeps a bounded number of self-registered clients alive (option limits.selfRegisteredClients).',
    'Let the owner remove a client: oauth.authorizations.revoke(subject, clientId). For tests that register many clients under one account, raise the option. A client that registers anew at each start should register once and keep its client_id.',
  ],

  // Guards.
  token_missing: [
    'The request has no access token (RFC 6750 2.1).',
    'Send Authorization: Bearer, one space and the token.',
  ],
  'token_missing/scheme': [
    'A token stands in the header Authorization: Bearer (RFC 6750 2.1), and the header has another scheme.',
    'Send Authorization: Bearer, one space and the token.',
  ],
  'token_missing/query': [
    'A token must not stand in the URI (RFC 9700 4.3.2).',
    'Send Authorization: Bearer and the token, and no parameter access_token.',
  ],
  token_malformed: [
    'The header Authorization holds exactly one token (RFC 6750 2.1).',
    'Send the access_token of the token response as it is.',
  ],
  token_invalid: [
    'The token is unknown, expired or revoked (RFC 6750 3.1).',
    'Ask for a new token. Compare store, prefix and issuer of server and guard.',
  ],
  'token_invalid/other_issuer': [
    'A guard accepts only tokens of its issuer, letter by letter (RFC 8414 2).',
    'Give the guard the issuer of the authorization server, letter by letter.',
  ],
  'token_invalid/not_in_store': [
    'The store of this guard has no record of the token (RFC 6750 3.1).',
    'The token has ended or was revoked, or server and guard use two stores or prefixes: memoryStore() is one store for each process.',
  ],
  'token_invalid/expired': [
    'The token has expired by the clock of this guard (RFC 6750 3.1).',
    'Refresh the token. If it is new, compare the clocks of server and guard, and use NTP.',
  ],
  'token_invalid/form': [
    'The value is no access token of this package (RFC 6750 2.1).',
    'Send the access_token of the token response, and no code, refresh token or ID token. For JWTs, use createJwtBearerGuard().',
  ],
  token_resource: [
    'The token is for another resource than the one of this guard (RFC 8707 2).',
    'Ask for a token with the resource of this guard, or name the right resource in the guard.',
  ],
  'token_resource/no_resources': [
    'The token is for certain resources, and this guard names none (RFC 8707 2).',
    'Give the guard the option resources of the authorization server.',
  ],
  token_scope_insufficient: [
    'The token must have the scope of the guard (RFC 6750 3.1).',
    'Ask for the scope, or correct the scope of the guard.',
  ],
  login_unknown: [
    'The guard has maxAge or acr, so the token must have an owner, and say when the owner logged in (RFC 9470 6).',
    'Return authTime from resourceOwner of the authorization server. A client that acts for itself never passes such a guard.',
  ],
  login_of_another_class: [
    'The login behind the token must meet one of the classes in acr of the guard (RFC 9470 3).',
    'Let the client ask again with the acr_values of the challenge, and return the acr of the login from resourceOwner.',
  ],
  login_too_old: [
    'The login behind the token is older than maxAge of the guard (RFC 9470 3).',
    'Let the client ask again with the max_age of the challenge. A refresh does not renew the login.',
  ],
  jwt_issuer_unknown: [
    'The claim iss must equal the issuer of the guard, letter by letter (RFC 9068 4).',
    'Write the issuer as the authorization server writes it, with or without a slash at its end.',
  ],
  jwt_audience_wrong: [
    'The claim aud must name the audience of the guard (RFC 9068 4).',
    'Correct the option audience, or ask the issuer for a token with this audience.',
  ],
  jwt_expired: [
    'The JWT has expired by the clock of this guard (RFC 9068 4).',
    'Refresh the token. If it is new, set the clocks by NTP.',
  ],
  jwt_not_yet_valid: [
    'The JWT begins in the future by the clock of this guard (RFC 7519 4.1.5).',
    'The clocks differ: set both by NTP.',
  ],
  client_assertion_audience_wrong: [
    'The claim aud must be the issuer of this server, letter by letter (RFC 7523 3).',
    'Let the client write the issuer of the metadata.',
  ],
  client_assertion_expired: [
    'The assertion has expired (RFC 7523 3).',
    'Make a new assertion for each request, and set the clocks by NTP.',
  ],
  client_assertion_not_yet_valid: [
    'The assertion begins in the future (RFC 7523 3).',
    'The clocks differ: set both by NTP.',
  ],
  origin_not_allowed: [
    'A script of this origin asked, and the response has no Access-Control-Allow-Origin, so the browser withholds it (Fetch 4.10).',
    "Add the origin to the option cors: { origins: ['https://app.example'] }. For an endpoint of your own, set its cors. Introspection is for servers only.",
  ],
  'origin_not_allowed/guard': [
    'A script of this origin asked, and the response has no Access-Control-Allow-Origin, so the browser withholds it (Fetch 4.10).',
    "At the guard, admit this origin by the option cors, as in bearerGuard('photos:read', { cors: { origins: ['https://app.example'] } }), and mount it with app.use or app.all, so that OPTIONS reaches it. For all guards: the option guards: { cors }.",
  ],
  dpop_url_wrong: [
    'The claim htu of a DPoP proof is the URL of the request without query and fragment (RFC 9449 4.3), and this server compares it with its configuration.',
    'At a guard, set baseUrl of dpop() to the URL that clients use, with the part of the path that a proxy removes. At an endpoint, compare the issuer.',
  ],
  dpop_token_hash_missing: [
    'At a guard, a DPoP proof has the claim ath, the hash of the access token (RFC 9449 4.3 and 7).',
    'Let the client add ath, which proofs for the token endpoint lack.',
  ],
  dpop_not_in_time: [
    'The time of a DPoP proof is within tolerance of the clock (RFC 9449 4.3).',
    'Set the clocks of client and server by NTP, or set nonces of dpop(): then the clock of the client does not count.',
  ],
  rate_limited: [
    'The network has sent too many requests (option limits.networks).',
    'Behind a proxy, all clients are one network until Express trusts the proxy: set trust proxy.',
  ],
} as const satisfies Partial<Record<Key, Entry>>

/** By reason, or by reason and cause where the server can tell causes apart. */
export const explanations: ReadonlyMap<string, Explanation> = new Map(
  Object.entries(table).map(([key, [rule, cure]]) => [key, { rule, cure }]),
)
