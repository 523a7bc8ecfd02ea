import type { Mutation } from './mutation'

/** Breaks of the rules of registered clients. */
export const registration: readonly Mutation[] = [
  ['REG-1', 'openRegistered', 'ids.indexOf(id) < index', 'ids.indexOf(id) < 0'],
  [
    'REG-2',
    'hasCredentials',
    "client_type === 'confidential' || client_secret_hashes.length > 0",
    'client_secret_hashes.length > 7',
  ],
  [
    'REG-3',
    'generateClientSecret',
    "secureRandom(32).toString('base64url')",
    "secureRandom(30).toString('base64url')",
  ],
  [
    'REG-4',
    'isClientType',
    "value === 'confidential' || value === 'public'",
    "value === 'confidential' || value === 'public' || value === undefined",
  ],
  ['REG-5', 'redirectUriFault', "if (text.includes('#'))", 'if (/#./.test(text))'],
  ['REG-6', 'isRegisteredRedirectUri', 'redirect_uris.includes(fixed)', 'redirect_uris[0] === fixed'],
  ['REG-7', 'checkRules', '(!confidential && !client.grant_types.some(isAbsoluteUri))', 'false'],
  [
    'REG-8',
    'isRegisteredRedirectUri',
    'if (redirect_uris.includes(fixed))',
    'if (redirect_uris.length === 0 || redirect_uris.includes(fixed))',
  ],
  ['REG-8', 'onlyRedirectUri', 'only === undefined || second', 'second'],
  [
    'REG-9',
    'isRegisteredRedirectUri',
    'dynamic_redirect_query ? withoutDynamicQuery(sent) : sent',
    'withoutDynamicQuery(sent)',
  ],
  ['REG-9', 'withoutDynamicQuery', "query.includes('#') || ", ''],
  ['REG-9', 'withoutDynamicQuery', ' || holdsResponseParameter(query)', ''],
  ['REG-5', 'redirectUriFault', 'holdsResponseParameter(text.slice(question + 1))', 'false'],
  ['REG-9', 'checkRedirection', "if (dynamic_redirect_query && uri.includes('?'))", 'if (false)'],
  [
    'REG-10',
    'checkRules',
    'if (confidential && client.client_secret_hashes.length + Object.keys(client.credentials).length === 0)',
    'if (false)',
  ],
  [
    'REG-11',
    'clientHeader',
    '${description && html`<p class="description" dir="auto">${description}</p>`}',
    '',
  ],
  [
    'REG-12',
    'checkRedirection',
    "if (loopback_redirect_uris && client_type === 'confidential')",
    'if (false)',
  ],
  [
    'REG-12',
    'checkRules',
    "if (!confidential && client.grant_types.includes('client_credentials'))",
    'if (false)',
  ],
  ['REG-12', 'checkRules', 'if (!confidential && client.may_introspect)', 'if (false)'],
  ['REG-12', 'isRegisteredRedirectUri', 'return portless !== undefined &&', 'return false &&'],
  [
    'REG-13',
    'SecretVerifier.verify',
    'client_secret_hashes.toReversed() ??',
    'client_secret_hashes.toReversed().slice(0, 1) ??',
  ],
]
