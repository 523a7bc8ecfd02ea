import type { FoundAccess } from '../authorization/lookup'
import type { EndpointRequest } from '../protocol/endpoint'
import { refused } from '../protocol/refusals'
import { admitToken, requiredSchemes, tokenOf } from '../resource-server/admit'
import { scopeIn } from '../resource-server/challenge'
import { Asked } from './asked'
import type { Edge } from './edge'

/** Decides as a guard does (RFC 6749 7). */
export async function admitAtEndpoint(
  { settings, store }: Edge,
  request: EndpointRequest<undefined>,
  token: string,
): Promise<FoundAccess> {
  if (!(request instanceof Asked)) throw new TypeError('admit() takes the request of an endpoint.')
  const { tokenTypes, extensions, implied } = settings
  const scope = [token]
  const schemes = requiredSchemes(tokenTypes)
  request.schemes = schemes ?? tokenTypes.map((type) => type.scheme)
  const carried = tokenOf(request, tokenTypes, scope)
  if (carried === undefined) throw refused(causeOf(request), {}, { challenge: scopeIn(scope) })
  const found = await store.findAccess(carried.presented.accessToken, request.now)
  const terms = { scope, match: 'all', optional: false, resource: request.url } as const
  const acting = extensions.filter((extension) => extension.atResourceRequest !== undefined)
  return admitToken(carried, found, request, { ...terms, extensions: acting, implied, schemes })
}

function causeOf({ method, authorization, parameters }: Asked) {
  if (method === 'GET' && parameters.mentions('access_token')) return 'token_missing/query'
  return authorization.length === 0 ? 'token_missing' : 'token_missing/scheme'
}
