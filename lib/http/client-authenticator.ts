import type { Request } from 'express'
import type { AuthenticationContext } from '../client-authentication/authenticate-client'
import {
  type ClientCredential,
  noClientAuthentication,
  readCredential,
} from '../client-authentication/read-credential'
import type { AuthenticateAtHost } from '../client-authentication/strategies'
import { hasBody } from '../protocol/endpoint'
import { Parameters } from '../protocol/parameters'
import type { SingleUse } from '../protocol/single-use'
import type { Edge } from './edge'
import { credentialSourcesOf, formOf } from './request'
import { SenderOfRequest } from './sender-of'
import { useLast, useUp } from './use-up'

/** A Passport instance of the host leads to an endpoint that finds the client in the context. */
export function authenticatorAtHost(server: Edge): AuthenticateAtHost {
  return async (request, method) => {
    const form = hasBody(request.method)
      ? await formOf(request, server.settings.bodyDeadline)
      : Parameters.none
    const credential = credentialOf(server, request, form)
    if (credential === undefined) throw noClientAuthentication(form.mentions('client_id'))
    if (credential.method.name !== method) return undefined
    const proven = await server.verification.prove(credential, new ClientRequest(server, request))
    server.contexts.of(request).client = proven
    // What the host does next may have effects.
    await useUp(server, request, proven.client)
    return proven
  }
}

export function credentialOf(
  { credentialTerms, contexts }: Edge,
  request: Request,
  form: Parameters,
): ClientCredential | undefined {
  const credential = readCredential(credentialSourcesOf(request, form), credentialTerms)
  if (credential !== undefined) contexts.of(request).notes.claimedClientId = credential.clientId
  return credential
}

export class ClientRequest extends SenderOfRequest implements AuthenticationContext {
  clientFound(): void {
    this.server.contexts.of(this.request).notes.isRegistered = true
  }

  useLast(use: SingleUse): void {
    useLast(this.server, this.request, use)
  }
}
