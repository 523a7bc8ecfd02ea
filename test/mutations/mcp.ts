import type { Mutation } from './mutation'

/** Breaks of what the revision 2026-07-28 of MCP asks of a server. */
export const mcp: readonly Mutation[] = [
  ['MCP-1', 'pkce', "requirement === 'all' ||", ''],
  ['MCP-1', 'pkce', "if (method !== 'S256')", 'if (false)'],
  ['MCP-4', 'wellKnownPaths', '[name + mount, mount + name]', '[mount + name]'],
  ['MCP-5', 'responseMembers', ', { iss: issuer })', ", issuer === '' ? { iss: issuer } : {})"],
  ['MCP-8', 'resolveLifetimes', "seconds('accessToken', 3600)", "seconds('accessToken', 7200)"],
  ['MCP-9', 'replayRotation', 'Math.abs(now - rotation.at) < lifetimes.refreshTokenGrace', 'now > 0'],
  ['MCP-10', 'digest', "hash('sha256', text, 'base64url')", 'text'],
  ['MCP-11', 'served', 'requireTls(request, settings.tlsRequired)', 'void 0'],
  [
    'MCP-12',
    'isAllowedBy',
    "if (rule === undefined || rule === 'any') return true",
    'if (rule !== undefined) return true',
  ],
  [
    'MCP-13',
    'isRegisteredRedirectUri',
    'redirect_uris.includes(fixed)',
    'redirect_uris.some((uri) => fixed.startsWith(uri))',
  ],
  ['MCP-14', 'requireRedirectUri', 'if (!isRegisteredRedirectUri(client, redirectUri))', 'if (false)'],
  ['MCP-27', 'scopeIn', 'scope.length === 0', 'scope.length < 7'],
  [
    'MCP-28',
    'tokenOf',
    'if (tokenType === undefined) return undefined',
    'if (tokenType === undefined) throw insufficientScope(scope)',
  ],
  ['MCP-29', 'insufficientScope', '403', '401'],
  ['MCP-30', 'admitToken', 'insufficientScope(scope, covered)', 'insufficientScope(scope.slice(1), covered)'],
  ['MCP-36', 'clientSecretPost', "body.get('client_secret')", "body.get('client_password')"],
]
