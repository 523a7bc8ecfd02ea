import { destinationOf, parseAuthorizationRequest } from '../authorization-endpoint/authorization-request'
import { requireEchoableState } from '../authorization-endpoint/authorize'
import { replaceParameters } from '../authorization-endpoint/resolve-request'
import { credentialNames } from '../client-authentication/read-credential'
import type { ParsedRequest } from '../doors/plug-in'
import type { Client } from '../protocol/client'
import { type Evidence, noEvidence } from '../protocol/extension-data'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import type { Sender } from '../protocol/sender'
import type { Edge } from './edge'

/** The checks of the authorization endpoint, for a client that another endpoint has authenticated. */
export async function parsePushedRequest(
  server: Edge,
  client: Client,
  received: Parameters,
  evidence: Evidence = noEvidence,
  sender: Sender,
): Promise<ParsedRequest> {
  const { credentialTerms } = server
  const named = received.get('client_id')
  if (named !== undefined && named !== client.client_id) throw refused('client_id_mismatch')
  const { parameters: replaced, handle } = await replaceParameters(server, received, client, {
    isPushed: true,
    evidence,
    sender,
  })
  if (handle !== undefined) throw new TypeError('An extension claims a record for a pushed request.')
  const parameters = replaced.without(credentialNames(credentialTerms))
  parameters.require('client_id')
  requireEchoableState(parameters)
  const destination = destinationOf(client, parameters)
  const parsed = await parseAuthorizationRequest(destination, parameters, server)
  return {
    proposal: parsed.proposal,
    facts: parsed.facts,
    parameters: parameters.format(),
  }
}
