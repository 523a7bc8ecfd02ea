import { audienceIn } from '../extensions/resource-indicators/resource-indicators'
import { isTexts } from '../primitives/values'
import type { Endpoint } from '../protocol/endpoint'
import { dataOf } from '../protocol/extension-data'
import { badToken, otherAudience } from '../resource-server/challenge'
import type { IdentityTerms } from './id-token'
import { approvedClaims, identityRequestIn } from './identity-request'
import { claimsFor, publicSubject } from './owner-claims'

const needed = ['openid']

/** OpenID Connect Core 5.3 */
export function userInfoEndpoint(terms: IdentityTerms, name: string, path: string): Endpoint {
  const { server, claims, byScope, subjectFor } = terms
  const own = server.urlOf(path)
  return {
    name: 'userinfo',
    path,
    method: ['GET', 'POST'],
    clientAuthentication: 'none',
    cors: true,
    async handle(request) {
      const found = await server.admit(request, 'openid')
      const { subject, scope, clientId } = found.access
      const audience = audienceIn(found)
      // Without resources, a token is for everything.
      if (audience !== undefined && !(isTexts(audience) && audience.includes(own)))
        throw badToken('token_resource', needed, otherAudience(audience, [own]))
      if (subject === undefined) throw badToken('token_invalid', needed)
      const asked = identityRequestIn(dataOf(name, found.extensionData))
      const ofScope = byScope.all(scope)
      const names = [...ofScope, ...approvedClaims(asked?.userInfo ?? [], asked, ofScope)]
      const known = await claimsFor(claims, subject, { clientId, scope, names })
      if (known === undefined) throw badToken('token_invalid', needed)
      if (subjectFor === publicSubject) return { members: { ...known, sub: subject } }
      const client = await server.findClient(clientId)
      // The subject of the host must not stand in.
      if (client === undefined) throw badToken('token_invalid', needed)
      return { members: { ...known, sub: subjectFor(subject, client) } }
    },
  }
}
