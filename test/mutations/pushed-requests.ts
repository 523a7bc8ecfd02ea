import type { Mutation } from './mutation'

const ofEndpoint = "name: 'pushed_authorization_request',"
const mustPush = 'required || members[member] === true'

/** Breaks of the rules of pushed authorization requests. */
export const pushedRequestRules: readonly Mutation[] = [
  ['PAR-1', 'pushEndpoint', ofEndpoint, `${ofEndpoint} method: ['GET', 'POST'],`],
  ['PAR-2', 'pushEndpoint', ofEndpoint, `${ofEndpoint} clientAuthentication: 'confidential',`],
  ['PAR-3', 'useOf', '[issuer, tokenEndpoint] : [issuer]', '[issuer] : [tokenEndpoint]'],
  ['PAR-4', 'parsePushedRequest', "parameters.require('client_id')", 'void 0'],
  [
    'PAR-5',
    'refuseRequestUri',
    "parameters.mentions('request_uri')",
    "parameters.get('request_uri') !== undefined",
  ],
  [
    'PAR-6',
    'parsePushedRequest',
    "destinationOf(client, parameters.get('redirect_uri'))",
    'destinationOf(client, undefined)',
  ],
  ['PAR-7', 'pushEndpoint', 'status: 201', 'status: 200'],
  [
    'PAR-8',
    'createUnclaimedAuthorization',
    "createCredential('requestHandle', id, context.random)",
    "createCredential('requestHandle', id, (bytes) => Buffer.alloc(bytes))",
  ],
  ['PAR-9', 'pushedIn', 'found.clientId !== client.client_id', 'false'],
  ['PAR-10', 'errorMembers', 'error_description: description', 'error_text: description'],
  ['PAR-11', 'pushEndpoint', ', pushed_request_too_large: 413', ''],
  ['PAR-11', 'pushShares', 'clients?.take(counted.client)', 'void 0'],
  ['PAR-12', 'resolvePushed', 'parameters: pushedIn(found, client)', 'parameters: parameters.format()'],
  ['PAR-13', 'resolvePushed', ', claims: handle', ''],
  ['PAR-13', 'isNamed', "|| (current.state === 'pending' && current.named !== undefined)", ''],
  ['PAR-14', 'findClaimable', 'current.expiresAt > now ? current : requestExpired()', 'current'],
  [
    'PAR-15',
    'contentOf',
    "grantableScope(parameters.get('scope'), client, defaultScope)",
    "(parameters.get('scope') ?? '').split(' ')",
  ],
  [
    'PAR-16',
    'pushEndpoint',
    '...(required && { metadata: { require_pushed_authorization_requests: true } }),',
    '',
  ],
  ['PAR-17', 'pushedAuthorizationRequests', mustPush, 'members[member] === true'],
  ['PAR-18', 'pushedAuthorizationRequests', mustPush, 'required'],
  ['PAR-19', 'resolvePushed', '!uri.startsWith(requestUriPrefix)', 'false'],
  ['PAR-20', 'destinationOf', 'if (sent !== undefined) requireRedirectUri(client, sent)', ''],
  ['PAR-21', 'requestUriPrefix', "'urn:ietf:params:oauth:request_uri:'", "'urn:ietf:params:oauth:request:'"],
]
