import type { AuthorizationServerOptions, Plugin } from '../../../lib/index'
import { tokenExchange, type ExchangePolicy } from '../../../lib/paths/grants'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from './clients'
import type { Fields, Flow } from './flow'
import { tokensOf } from './tokens'

export const tokenExchangeName = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const tokenTypeOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`
export const accessTokenType = tokenTypeOf('access_token')

/** A service that gets tokens for itself, exchanges those that it is shown, and introspects. */
export const service = bent(nightlyReport, {
  grant_types: ['client_credentials', tokenExchangeName],
  may_introspect: true,
})

/** The owner goes on, for whatever target; a client that acts for itself has none to pass on. */
export const anyOwner: ExchangePolicy = ({ subject, resource, audience }) =>
  subject.subject === undefined
    ? undefined
    : { subject: subject.subject, audience: [...resource, ...audience] }

/** A server with token exchange under a policy. */
export function exchanging(
  policy: ExchangePolicy = anyOwner,
  tokenTypes: NonNullable<Parameters<typeof tokenExchange>[0]['tokenTypes']> = {},
): Partial<AuthorizationServerOptions> {
  const clients = [service, photoBook, photoFrame, photoPrint].map(({ registration }) => registration)
  return { clients, plugins: [tokenExchange({ policy, tokenTypes })] }
}

// A method, not a function type: so the checker lets a JavaScript host's functions through, whatever they return.
const javascript: { open(options: unknown): Plugin } = { open: tokenExchange }

/** This server at a host that no checker looks at. */
export function exchangingUnchecked(options: unknown): Partial<AuthorizationServerOptions> {
  return { ...exchanging(), plugins: [javascript.open(options)] }
}

/** A request for the exchange of an access token. */
export const exchangeOf = (subject_token: string, bend: Fields = {}): Fields => ({
  grant_type: tokenExchangeName,
  subject_token,
  subject_token_type: accessTokenType,
  ...bend,
})

/** An access token of the service for itself, as an actor token. */
export async function actingAs(flow: Flow): Promise<Fields> {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  const { accessToken } = tokensOf(await flow.request(service, grant))
  return { actor_token: accessToken, actor_token_type: accessTokenType }
}
