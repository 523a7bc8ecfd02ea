import type { AdmittedRequest } from '../doors/plug-in'
import type { EndpointRequest } from '../protocol/endpoint'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { admitToken, type GuardedRequest, requiredSchemes, tokenOf } from '../resource-server/admit'
import { scopeIn } from '../resource-server/refusals'
import type { Edge } from './edge'

/** Decides as a guard does (RFC 6749 7). */
export async function admitAtEndpoint(
  server: Edge,
  request: EndpointRequest<undefined>,
  scope: string,
): Promise<AdmittedRequest> {
  const { settings, store, counters, now } = server
  const { tokenTypes, extensions, implied } = settings
  const required = requiredSchemes(tokenTypes)
  const schemes = required ?? tokenTypes.map((type) => type.scheme)
  const headers: Record<string, string> = {}
  const requirement = { scope: [scope], match: 'all', optional: false, resource: request.url } as const
  const acting = extensions.filter((extension) => extension.atResourceRequest !== undefined)
  const asked: GuardedRequest = {
    method: request.method,
    target: request.target,
    url: request.url,
    secure: request.secure,
    headers: request.headers,
    certificate: request.certificate,
    address: request.address,
    authorization: request.headers['authorization'] ?? [],
    now: now(),
    setHeader: (name, value) => void (headers[name] = value),
    useOnce: (key, seconds, share) => counters.useOnce(key, seconds, share),
    noteToken: () => {},
  }
  try {
    const lookup = { extensions: acting, implied, required, resource: request.url }
    const carried = tokenOf(asked, tokenTypes, requirement.scope)
    if (carried === undefined) throw refused(causeOf(request), {}, { challenge: scopeIn(requirement.scope) })
    const found = await store.findAccess(carried.presented.accessToken, asked.now)
    return { ...(await admitToken(carried, found, asked, requirement, lookup)), headers }
  } catch (refusal) {
    throw withChallenge(refusal, schemes, headers)
  }
}

const causeOf = ({ method, headers, parameters }: EndpointRequest<undefined>) => {
  if (method === 'GET' && parameters.mentions('access_token')) return 'token_missing/query'
  return headers['authorization'] === undefined ? 'token_missing' : 'token_missing/scheme'
}

function withChallenge(
  refusal: unknown,
  schemes: readonly string[],
  headers: Readonly<Record<string, string>>,
): unknown {
  if (!(refusal instanceof OAuthError) || refusal instanceof Throttled) return refusal
  const { code, reason, description, status, challenge, cause, observed } = refusal
  return new OAuthError(code, reason, description, {
    cause,
    ...(observed && { observed }),
    ...(status !== undefined && { status }),
    ...(challenge && { challenge }),
    headers: { ...headers, ...refusal.headers },
    schemes: refusal.schemes ?? schemes,
  })
}
