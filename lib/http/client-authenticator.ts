import type { Request } from 'express'
import {
  type ClientCredential,
  noClientAuthentication,
  readCredential,
} from '../client-authentication/read-credential'
import type { AuthenticateBy } from '../client-authentication/strategies'
import { hasBody } from '../protocol/endpoint'
import { Parameters } from '../protocol/parameters'
import type { ServerContext } from '../server/context'
import { credentialSourcesOf, formOf } from './request'
import { useLast, useUp } from './use-up'

type ServerWithoutStrategies = Omit<ServerContext, 'strategies'>

export function clientAuthenticator(server: ServerWithoutStrategies): AuthenticateBy {
  const { verification, contexts, networkLimits } = server
  return async (request, method, read) => {
    const context = contexts.of(request)
    const credential = read ?? (await credentialAtHost(server, request))
    if (credential.method.name !== method) return undefined
    const proven = await verification.verify(credential, {
      address: () => request.ip,
      networkRefusal: networkLimits.clients?.refusalOf(request),
      clientFound: () => (context.notes.isRegistered = true),
      useLast: (use) => useLast(server, request, use),
    })
    // A Passport instance of the host leads to an endpoint that finds the client in the context.
    if (read !== undefined) return proven
    context.client = proven
    // What the host does next may have effects.
    await useUp(server, request, proven.client)
    return proven
  }
}

async function credentialAtHost(
  server: ServerWithoutStrategies,
  request: Request,
): Promise<ClientCredential> {
  const form = hasBody(request.method) ? await formOf(request, server.settings.bodyDeadline) : Parameters.none
  const credential = credentialOf(server, request, form)
  if (credential === undefined) throw noClientAuthentication(form.mentions('client_id'))
  return credential
}

/** @throws OAuthError for several methods, or one used wrongly. */
export function credentialOf(
  { credentialTerms, contexts }: ServerWithoutStrategies,
  request: Request,
  form: Parameters,
): ClientCredential | undefined {
  const credential = readCredential(credentialSourcesOf(request, form), credentialTerms)
  if (credential !== undefined) contexts.of(request).notes.claimedClientId = credential.clientId
  return credential
}
