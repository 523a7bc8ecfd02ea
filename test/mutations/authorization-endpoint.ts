import type { Mutation } from './mutation'

/** Breaks of the rules of the authorization endpoint and its redirections. */
export const authorizationEndpoint: readonly Mutation[] = [
  ['AUZ-1', 'serve', "request.method !== 'GET' && request.method !== 'POST'", "request.method !== 'POST'"],
  [
    'AUZ-2',
    'serve',
    'const form = await fieldsOf(request, settings.bodyDeadline, isDecision)',
    "const form = request.url.includes('?') ? queryOf(request) : await fieldsOf(request, settings.bodyDeadline, isDecision)",
  ],
  ['AUZ-3', 'handleRequest', 'await host.logIn(course?.demand)', 'await host.ask({} as never)'],
  [
    'AUZ-4',
    'parseAuthorizationRequest',
    "parameters.require('response_type')",
    "parameters.get('response_type') ?? 'x'",
  ],
  ['AUZ-5', 'canonicalResponseType', "name.split(' ').toSorted().join(' ')", 'name'],
  ['AUZ-6', 'responseMembers', 'state: requestState', 'state: requestState.trim()'],
  ['AUZ-7', 'authorizationResponse', "frame.responseType?.mode) === 'fragment'", "undefined) === 'fragment'"],
  [
    'AUZ-7',
    'authorizationResponse',
    '`${frame.redirectUri}#${new URLSearchParams(members).toString()}`',
    '`${frame.redirectUri}#${decodeURIComponent(new URLSearchParams(members).toString())}`',
  ],
  ['AUZ-8', 'implicit', 'parameters: {} }', "parameters: { refresh_token: 'x' } }"],
  ['AUZ-8', 'isRegisteredRedirectUri', 'if (redirect_uris.includes(fixed)) return true', 'return true'],
  ['AUZ-9', 'redirection', "frame.responseType?.redirectBy ?? 'location'", "'location'"],
  [
    'AUZ-10',
    'isRegisteredRedirectUri',
    'redirect_uris.includes(fixed)',
    "redirect_uris.includes(fixed.replace(/\\/$/, ''))",
  ],
  ['AUZ-11', 'requestAsSent', "requestState: parameters.received('state')", 'requestState: undefined'],
  [
    'AUZ-11',
    'authorizationResponse',
    "frame.responseType?.mode) === 'fragment'",
    "frame.responseType?.mode) === 'fragment' && !('error' in parameters)",
  ],
  ['AUZ-12', 'storeTrouble', "temporarilyUnavailable('store", "cause ?? temporarilyUnavailable('store"],
  ['AUZ-13', 'findDecidable', 'if (decision.subject !== current.subject)', 'if (false)'],
  ['AUZ-14', 'redirectUriFault', 'if (!insecure && isInsecure(text))', 'if (false)'],
  [
    'AUZ-14',
    'isInsecure',
    "return protocolOf(uri) === 'http:' && !isLoopback(new URL(uri).hostname)",
    'return false',
  ],
  ['AUZ-15', 'requireResponseMode', "named.carrier === 'fragment'", 'false'],
  ['AUZ-15', 'authorizationResponse', 'frame.mode?.carrier ?? ', ''],
  [
    'RED-1',
    'isRegisteredRedirectUri',
    'redirect_uris.includes(fixed)',
    'redirect_uris.includes(URL.canParse(fixed) ? new URL(fixed).href : fixed)',
  ],
  ['RED-2', 'onlyRedirectUri', 'only === undefined || second !== undefined', 'only === undefined'],
  ['RED-2', 'onlyRedirectUri', ' || dynamic_redirect_query)', ')'],
  [
    'RED-3',
    'onlyRedirectUri',
    'only === undefined || second !== undefined',
    'only === undefined || second === undefined',
  ],
]
