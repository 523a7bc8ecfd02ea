import type { Mutation } from './mutation'

/** Breaks of the rules of the authorization endpoint and its redirections. */
export const authorizationEndpoint: readonly Mutation[] = [
  [
    'AUZ-1',
    'express/authorize.ts',
    "request.method !== 'GET' && request.method !== 'POST'",
    "request.method !== 'POST'",
  ],
  [
    'AUZ-2',
    'express/authorize.ts',
    'const form = await formOf(request, edge.bodyDeadline)',
    "const form = request.url.includes('?') ? queryOf(request) : await formOf(request, edge.bodyDeadline)",
  ],
  ['AUZ-3', 'authorization-endpoint/authorize.ts', 'await host.logIn()', 'await host.ask({} as never)'],
  [
    'AUZ-4',
    'authorization-endpoint/authorization-request.ts',
    "parameters.require('response_type')",
    "parameters.get('response_type') ?? 'x'",
  ],
  ['AUZ-5', 'protocol/response-type.ts', "name.split(' ').toSorted().join(' ')", 'name'],
  [
    'AUZ-6',
    'authorization-endpoint/authorization-response.ts',
    'state: requestState',
    'state: requestState.trim()',
  ],
  ['AUZ-7', 'authorization-endpoint/authorization-response.ts', "responseType?.mode === 'fragment'", 'false'],
  [
    'AUZ-7',
    'authorization-endpoint/authorization-response.ts',
    '`${redirectUri}#${new URLSearchParams(answer).toString()}`',
    '`${redirectUri}#${decodeURIComponent(new URLSearchParams(answer).toString())}`',
  ],
  [
    'AUZ-8',
    'authorization-endpoint/response-types/implicit.ts',
    'parameters: {} }',
    "parameters: { refresh_token: 'x' } }",
  ],
  [
    'AUZ-8',
    'protocol/registered-redirect-uri.ts',
    'if (redirect_uris.includes(fixed)) return true',
    'return true',
  ],
  [
    'AUZ-9',
    'authorization-endpoint/authorization-response.ts',
    "frame.responseType?.redirectBy ?? 'location'",
    "'location'",
  ],
  [
    'AUZ-10',
    'protocol/registered-redirect-uri.ts',
    'redirect_uris.includes(fixed)',
    "redirect_uris.includes(fixed.replace(/\\/$/, ''))",
  ],
  [
    'AUZ-11',
    'authorization-endpoint/authorize.ts',
    "requestState: parameters.received('state'), issuer",
    'requestState: undefined, issuer',
  ],
  [
    'AUZ-11',
    'authorization-endpoint/authorization-response.ts',
    "responseType?.mode === 'fragment'",
    "responseType?.mode === 'fragment' && !('error' in parameters)",
  ],
  ['AUZ-12', 'stores/deadline.ts', "temporarilyUnavailable('store", "cause ?? temporarilyUnavailable('store"],
  ['AUZ-13', 'authorization/answer.ts', 'if (answer.subject !== current.subject)', 'if (false)'],
  ['AUZ-14', 'protocol/redirect-uri.ts', 'if (!insecure && isInsecure(text))', 'if (false)'],
  [
    'AUZ-14',
    'protocol/redirect-uri.ts',
    "return protocolOf(uri) === 'http:' && !isLoopback(new URL(uri).hostname)",
    'return false',
  ],
  [
    'RED-1',
    'protocol/registered-redirect-uri.ts',
    'redirect_uris.includes(fixed)',
    'redirect_uris.includes(URL.canParse(fixed) ? new URL(fixed).href : fixed)',
  ],
  [
    'RED-2',
    'authorization-endpoint/destination.ts',
    'only === undefined || second !== undefined',
    'only === undefined',
  ],
  ['RED-2', 'authorization-endpoint/destination.ts', ' || dynamic_redirect_query)', ')'],
  [
    'RED-3',
    'authorization-endpoint/destination.ts',
    'only === undefined || second !== undefined',
    'only === undefined || second === undefined',
  ],
]
