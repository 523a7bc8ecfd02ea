export interface Option {
  /** `text` takes one value, `texts` several, `seconds` a whole number. */
  readonly kind: 'flag' | 'text' | 'texts' | 'seconds'
  readonly meaning: string
  readonly field?: string
}

export const commonOptions = {
  redis: { kind: 'text', meaning: 'redis:// or rediss:// URL; default: the environment variable REDIS_URL' },
  prefix: { kind: 'text', meaning: 'the prefix option of the redisStore() of the server; default oauth:' },
  json: { kind: 'flag', meaning: 'write JSON' },
  help: { kind: 'flag', meaning: 'show this text' },
} as const satisfies Record<string, Option>

export const keyOptions: Readonly<Record<string, Option>> = {
  issuer: { kind: 'text', meaning: 'the option issuer of the server; required' },
}

export const shutOutOptions: Readonly<Record<string, Option>> = {
  issuer: {
    kind: 'texts',
    meaning: 'the option issuer of a server with the option authorizations: ends what the client got from it',
  },
}

export const lintOptions = {
  allow: { kind: 'texts', meaning: 'ignore this rule' },
  rules: { kind: 'flag', meaning: 'list all rules, and check nothing' },
  json: commonOptions.json,
  help: commonOptions.help,
} as const satisfies Record<string, Option>

export const rotationOptions: Readonly<Record<string, Option>> = {
  repeat: {
    kind: 'flag',
    meaning: 'finish a failed rotation; the variable CLIENT_SECRET holds its secret',
  },
  finish: {
    kind: 'flag',
    meaning: 'issue no secret; drop the old secret, and only the current secret works',
  },
}

export const metadataOptions: Readonly<Record<string, Option>> = {
  type: { kind: 'text', field: 'client_type', meaning: 'confidential or public; required' },
  scope: {
    kind: 'text',
    field: 'scope',
    meaning: 'scope values that the client may request, separated by spaces; required',
  },
  name: { kind: 'text', field: 'client_name', meaning: 'the name that the resource owner sees' },
  'redirect-uri': { kind: 'texts', field: 'redirect_uris', meaning: 'a complete URI' },
  'post-logout-redirect-uri': {
    kind: 'texts',
    field: 'post_logout_redirect_uris',
    meaning: 'a URI to which a logout may lead',
  },
  'grant-type': { kind: 'texts', field: 'grant_types', meaning: 'default authorization_code' },
  'response-type': {
    kind: 'texts',
    field: 'response_types',
    meaning: 'default code, for the grant type authorization_code',
  },
  'auth-method': {
    kind: 'text',
    field: 'token_endpoint_auth_method',
    meaning: 'the only method of client authentication that the client may use',
  },
  'access-token-lifetime': {
    kind: 'seconds',
    field: 'access_token_lifetime',
    meaning: 'the lifetime of an access token, at most that of the server',
  },
  'refresh-token-lifetime': {
    kind: 'seconds',
    field: 'refresh_token_lifetime',
    meaning: 'the lifetime of a refresh token since the last refresh, at most that of the server',
  },
  'grant-lifetime': {
    kind: 'seconds',
    field: 'grant_lifetime',
    meaning: 'the absolute end of a grant since its approval, at most that of the server',
  },
  'may-introspect': {
    kind: 'flag',
    field: 'may_introspect',
    meaning: 'let the client introspect tokens, as a resource server does',
  },
  'loopback-redirect-uris': {
    kind: 'flag',
    field: 'loopback_redirect_uris',
    meaning: 'allow any port on the loopback interface, for a native app',
  },
  'dynamic-redirect-query': {
    kind: 'flag',
    field: 'dynamic_redirect_query',
    meaning: 'let requests append a query to a registered URI',
  },
  'insecure-redirect-uris': {
    kind: 'flag',
    field: 'insecure_redirect_uris',
    meaning: 'allow http on any host; a page warns the resource owner',
  },
  description: { kind: 'text', field: 'description', meaning: 'a sentence for the consent page' },
  'client-uri': { kind: 'text', field: 'client_uri', meaning: 'the home page of the client' },
  'logo-uri': { kind: 'text', field: 'logo_uri', meaning: 'the logo of the client, at https' },
  'policy-uri': { kind: 'text', field: 'policy_uri', meaning: 'the privacy policy of the client' },
  'tos-uri': { kind: 'text', field: 'tos_uri', meaning: 'the terms of service of the client' },
  member: {
    kind: 'texts',
    meaning: 'name=value, a member of a plug-in such as subject_type=pairwise; the value is JSON or a text',
  },
  'client-id': {
    kind: 'text',
    field: 'client_id',
    meaning: 'an existing identifier, for a client that moves here',
  },
  'secret-hash': {
    kind: 'texts',
    field: 'client_secret_hashes',
    meaning: 'the digest of an existing secret, from hashClientSecret(); issues no secret',
  },
}

const { type: _type, 'client-id': _clientId, 'secret-hash': _secretHash, ...changeable } = metadataOptions

export const changeableOptions: Readonly<Record<string, Option>> = changeable

export const removalOptions: Readonly<Record<string, Option>> = {
  remove: {
    kind: 'texts',
    meaning:
      'the name of an option such as logo-uri, or of a member of a plug-in: the client gets the default',
  },
}

export const changeOptions: Readonly<Record<string, Option>> = { ...changeableOptions, ...removalOptions }

export const listOptions: Readonly<Record<string, Option>> = {
  deleted: { kind: 'flag', meaning: 'list the deleted clients instead' },
}
