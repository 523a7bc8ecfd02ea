import type { Request, RequestHandler } from 'express'
import { noNotes } from '../audit/audit-log'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import {
  type ClientCredential,
  noClientAuthentication,
  readCredential,
} from '../client-authentication/read-credential'
import type { AuthenticateAtHost } from '../client-authentication/strategies'
import { type Eventual, isLater } from '../primitives/concurrency'
import { type Client, hasCredentials } from '../protocol/client'
import { hasBody } from '../protocol/endpoint'
import type { Evidence } from '../protocol/extension-data'
import type { Extension } from '../protocol/extension'
import type { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { Parameters } from '../protocol/parameters'
import { type Asked, askedOf, isOfClient, nothingToUse, type Row, type Terms } from './asked'
import type { Edge } from './edge'
import { bodyMayCome, fieldsIn, formOf, hasJson, hasLongBody, jsonOf, queryOf } from './request'
import { handler } from './router'
import { requireTls } from './transport'

export function served<Answer>(server: Edge, row: Row<Answer>, share = row.share): RequestHandler {
  const { settings, requests, requireService } = server
  const preparing = settings.extensions.filter((extension) => extension.prepare !== undefined)
  return handler(async (request, response, next) => {
    if (share?.(request, response) === true) return
    const asked = askedOf(server, row, request, response)
    try {
      if (!row.methods.includes(request.method)) throw methodNotAllowed(row)
      if (row.limit !== undefined && !asked.isCounted) {
        asked.isCounted = true
        await row.limit(request, response)
      }
      requireTls(request, settings.tlsRequired)
      server.watchHost(request)
      asked.isOpen = requests.enter(request, response)
      if (!asked.isOpen && row.service !== 'told') await refuseClosing(asked)
      if (requireService !== undefined && row.service === 'needed') await requireService()
      row.begin?.(asked)
      const isToProve = row.clientAuthentication !== 'none' && asked.proven === undefined
      if (isToProve && mustProveFirst(asked)) asked.proven = await prove(asked, Parameters.none, 'required')
      const body = bodyOf(row, request)
      if (body === 'form') await bodyMayCome
      const reading = body === 'form' ? formOf(request, settings.bodyDeadline) : queryOf(request)
      asked.parameters = isLater(reading) ? await reading : reading
      if (isToProve) {
        const form = body === 'form' ? asked.parameters : Parameters.none
        const proving = prove(asked, form, row.clientAuthentication)
        asked.proven = isLater(proving) ? await proving : proving
      }
      asked.client = row.clientAuthentication === 'none' ? undefined : asked.proven?.client
      if (row.handle === undefined) {
        // What comes next may have effects.
        if (asked.useUp !== undefined) await asked.useUp()
      } else {
        note(row, asked)
        if (body === 'json') asked.json = await jsonOf(request, settings.bodyDeadline)
        if (body === 'json' && row.body === 'fields') asked.parameters = fieldsIn(asked.json)
        const isPublic = asked.client !== undefined && !hasCredentials(asked.client)
        if (isPublic && row.clientAuthentication === 'confidential') throw refused('client_not_confidential')
        if (preparing.length > 0 && isOfClient(asked)) asked.evidence = await evidenceIn(preparing, asked)
        if (!row.usesUpLast && asked.useUp !== undefined) await asked.useUp()
        const handling = row.handle(asked)
        const answer = isLater(handling) ? await handling : handling
        if (row.usesUpLast && asked.useUp !== undefined) await asked.useUp()
        const writing = row.write(asked, answer)
        if (isLater(writing)) await writing
      }
    } catch (error) {
      await row.refuse(asked, error)
      return
    }
    // Outside of `try`: errors of the host are no failures of the client.
    if (row.handle === undefined) next()
  })
}

/** RFC 9110 15.5.6. */
const methodNotAllowed = ({ name: endpoint, methods }: Terms): OAuthError =>
  refused(
    'method_not_allowed',
    { endpoint, methods: methods.filter((method) => method !== 'HEAD').join(' or ') },
    { headers: { Allow: methods.join(', ') } },
  )

function bodyOf({ body }: Terms, request: Request): 'form' | 'json' | 'none' {
  if (!hasBody(request.method)) return 'none'
  if (body !== 'fields') return body
  return hasJson(request) ? 'json' : 'form'
}

/** A body read later would reset the closing connection before the client gets the response. */
async function refuseClosing({ server, request, row }: Asked): Promise<never> {
  const { bodyDeadline } = server.settings
  const body = bodyOf(row, request)
  try {
    if (body === 'json') await jsonOf(request, bodyDeadline)
    else if (body === 'form') await formOf(request, bodyDeadline)
  } catch {
    // The answer is the same.
  }
  throw refused('closing')
}

/** A network over its limit must prove a client by the `Authorization` header before a long body is read. */
const mustProveFirst = ({ request, networkRefusal }: Asked): boolean =>
  hasLongBody(request) && networkRefusal !== undefined

/** Undefined if no client is needed or presented. */
function prove(
  asked: Asked,
  form: Parameters,
  need: Terms['clientAuthentication'],
): Eventual<ProvenClient | undefined> {
  asked.proven = undefined
  asked.singleUses = nothingToUse
  const credential = credentialOf(asked, form)
  if (credential !== undefined) return asked.server.verification.prove(credential, asked)
  if (need === 'optional') return undefined
  throw noClientAuthentication(form.mentions('client_id'))
}

function credentialOf(asked: Asked, body: Parameters): ClientCredential | undefined {
  const { server, request, authorization, certificate } = asked
  const { credentialTerms } = server
  const { clientWith } = credentialTerms
  const sources = { authorization, body, query: queryOf(request), certificate, clientWith }
  const credential = readCredential(sources, credentialTerms)
  if (credential !== undefined) asked.claimedClientId = credential.clientId
  return credential
}

/** A host's Passport leads to an endpoint that finds the client proven. */
export function authenticatorAtHost(server: Edge, row: Terms): AuthenticateAtHost {
  return async (request, method) => {
    const asked = askedOf(server, row, request)
    await bodyMayCome
    const form = hasBody(request.method)
      ? await formOf(request, server.settings.bodyDeadline)
      : Parameters.none
    const credential = credentialOf(asked, form)
    if (credential === undefined) throw noClientAuthentication(form.mentions('client_id'))
    if (credential.method.name !== method) return undefined
    const proven = await server.verification.prove(credential, asked)
    asked.proven = proven
    asked.client = proven.client
    // What the host does next may have effects.
    if (asked.useUp !== undefined) await asked.useUp()
    return proven
  }
}

function note<Answer>({ notesOf }: Row<Answer>, asked: Asked): void {
  const { shown = asked.shown, grantType = asked.grantType } = notesOf?.(asked.parameters) ?? noNotes
  asked.shown = shown
  asked.grantType = grantType
  if (asked.client === undefined || asked.proven?.byOldSecret !== true) return
  asked.clientId = asked.client.client_id
  asked.server.audit.reportOldSecret(asked)
}

async function evidenceIn(
  preparing: readonly Extension[],
  asked: Asked & { readonly client: Client },
): Promise<Evidence> {
  const evidence = new Map<string, unknown>()
  for (const extension of preparing) {
    const found: unknown = await extension.prepare?.(asked)
    if (found !== undefined) evidence.set(extension.name, found)
  }
  return evidence
}
