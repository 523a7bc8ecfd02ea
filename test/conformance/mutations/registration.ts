import type { Mutation } from './mutation'

/** Breaks of the rules of registered clients. */
export const registration: readonly Mutation[] = [
  ['REG-1', 'resolve-clients.ts', 'ids.indexOf(id) < index', 'ids.indexOf(id) < 0'],
  [
    'REG-2',
    'protocol/client.ts',
    "client_type === 'confidential' || client_secret_hashes.length > 0",
    'client_secret_hashes.length > 7',
  ],
  [
    'REG-3',
    'client-authentication/client-secret.ts',
    "secureRandom(32).toString('base64url')",
    "secureRandom(30).toString('base64url')",
  ],
  [
    'REG-4',
    'protocol/parse-client.ts',
    "value === 'confidential' || value === 'public'",
    "value === 'confidential' || value === 'public' || value === undefined",
  ],
  ['REG-5', 'protocol/redirect-uri.ts', "if (text.includes('#'))", 'if (/#./.test(text))'],
  [
    'REG-6',
    'protocol/registered-redirect-uri.ts',
    'redirect_uris.includes(fixed)',
    'redirect_uris[0] === fixed',
  ],
  [
    'REG-7',
    'protocol/client-rules.ts',
    '(!confidential || client.response_types.length > 0)',
    '(confidential && client.response_types.length > 0)',
  ],
  [
    'REG-8',
    'protocol/registered-redirect-uri.ts',
    'if (redirect_uris.includes(fixed))',
    'if (redirect_uris.length === 0 || redirect_uris.includes(fixed))',
  ],
  ['REG-8', 'authorization-endpoint/destination.ts', 'only === undefined || second', 'second'],
  [
    'REG-9',
    'protocol/registered-redirect-uri.ts',
    'dynamic_redirect_query ? withoutDynamicQuery(sent) : sent',
    'withoutDynamicQuery(sent)',
  ],
  ['REG-9', 'protocol/registered-redirect-uri.ts', "query.includes('#') || ", ''],
  ['REG-9', 'protocol/registered-redirect-uri.ts', ' || holdsResponseParameter(query)', ''],
  ['REG-5', 'protocol/redirect-uri.ts', 'holdsResponseParameter(text.slice(question + 1))', 'false'],
  ['REG-9', 'protocol/client-rules.ts', "if (dynamic_redirect_query && uri.includes('?'))", 'if (false)'],
  [
    'REG-10',
    'protocol/client-rules.ts',
    'if (confidential && client.client_secret_hashes.length + Object.keys(client.credentials).length === 0)',
    'if (false)',
  ],
  [
    'REG-11',
    'express/pages/consent-page.ts',
    '${client.description && html`<p class="description" dir="auto">${client.description}</p>`}',
    '',
  ],
  [
    'REG-12',
    'protocol/client-rules.ts',
    "if (loopback_redirect_uris && client_type === 'confidential')",
    'if (false)',
  ],
  [
    'REG-12',
    'protocol/client-rules.ts',
    "if (!confidential && client.grant_types.includes('client_credentials'))",
    'if (false)',
  ],
  ['REG-12', 'protocol/client-rules.ts', 'if (!confidential && client.may_introspect)', 'if (false)'],
  ['REG-12', 'protocol/registered-redirect-uri.ts', 'return loopback !== undefined &&', 'return false &&'],
  [
    'REG-13',
    'client-authentication/secret-verifier.ts',
    'client_secret_hashes.toReversed() ??',
    'client_secret_hashes.toReversed().slice(0, 1) ??',
  ],
]
