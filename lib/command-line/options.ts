/** One option of the command line. */
export interface Option {
  /** `flag` stands alone, `text` has a value, `texts` may come again. */
  readonly kind: 'flag' | 'text' | 'texts'
  readonly meaning: string
  /** The field of a registration that it fills. */
  readonly field?: string
}

/** Options that every command has. */
export const commonOptions = {
  redis: { kind: 'text', meaning: 'redis:// or rediss:// URL; else the environment variable REDIS_URL' },
  prefix: { kind: 'text', meaning: 'the prefix that the server gives redisStore(); default oauth:' },
  json: { kind: 'flag', meaning: 'answer with JSON' },
  help: { kind: 'flag', meaning: 'this text' },
} as const satisfies Record<string, Option>

/** Options of `lint`. */
export const lintOptions = {
  allow: { kind: 'texts', meaning: 'a rule that does not count here' },
  rules: { kind: 'flag', meaning: 'list all rules, and look at nothing' },
  json: commonOptions.json,
  help: commonOptions.help,
} as const satisfies Record<string, Option>

/** Options of `rotate-secret`. */
export const rotationOptions: Readonly<Record<string, Option>> = {
  repeat: {
    kind: 'flag',
    meaning: 'finish a rotation that met trouble; its secret is read from the variable CLIENT_SECRET',
  },
  finish: { kind: 'flag', meaning: 'issue nothing; drop the old secret, so that only the current one works' },
}

/** Options of `add`: the fields of a registration. */
export const metadataOptions: Readonly<Record<string, Option>> = {
  type: { kind: 'text', field: 'client_type', meaning: 'confidential or public; required' },
  scope: {
    kind: 'text',
    field: 'scope',
    meaning: 'what the client may ask for, space separated; required',
  },
  name: { kind: 'text', field: 'client_name', meaning: 'what the resource owner sees' },
  'redirect-uri': { kind: 'texts', field: 'redirect_uris', meaning: 'a complete URI' },
  'grant-type': { kind: 'texts', field: 'grant_types', meaning: 'default authorization_code' },
  'response-type': {
    kind: 'texts',
    field: 'response_types',
    meaning: 'default code, with the code grant',
  },
  'auth-method': {
    kind: 'text',
    field: 'token_endpoint_auth_method',
    meaning: 'one method of client authentication only',
  },
  'may-introspect': {
    kind: 'flag',
    field: 'may_introspect',
    meaning: 'may ask about tokens, as a resource server does',
  },
  'loopback-redirect-uris': {
    kind: 'flag',
    field: 'loopback_redirect_uris',
    meaning: 'any port on the loopback interface, for a native app',
  },
  'dynamic-redirect-query': {
    kind: 'flag',
    field: 'dynamic_redirect_query',
    meaning: 'requests bring a query of their own',
  },
  'insecure-redirect-uris': {
    kind: 'flag',
    field: 'insecure_redirect_uris',
    meaning: 'http beyond loopback, behind a warning',
  },
  description: { kind: 'text', field: 'description', meaning: 'a sentence for the consent page' },
  'client-uri': { kind: 'text', field: 'client_uri', meaning: 'its home page' },
  'logo-uri': { kind: 'text', field: 'logo_uri', meaning: 'its logo' },
  'policy-uri': { kind: 'text', field: 'policy_uri', meaning: 'its privacy policy' },
  'tos-uri': { kind: 'text', field: 'tos_uri', meaning: 'its terms of service' },
  'client-id': {
    kind: 'text',
    field: 'client_id',
    meaning: 'an identifier from elsewhere, to move a client',
  },
  'secret-hash': {
    kind: 'texts',
    field: 'client_secret_hashes',
    meaning: 'a digest from hashClientSecret(), to keep a secret; none is issued then',
  },
}
