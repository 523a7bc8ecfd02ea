import { createHmac } from 'node:crypto'
import type { ListedConsent } from '../authorization/remembered-consent'
import { inTurns } from '../primitives/concurrency'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { clientViewOf, scopeViewOf } from '../http/consent'
import { languageFields, type OwnPage, type OwnPageRequest, pageOf, viewBase } from '../doors/page-endpoint'
import { type ConnectedApplication, connectedPage, type ConnectedView } from '../pages/connected-page'
import { claimsFact, clientNameOf, type ConsentView } from '../pages/consent-page'
import type { Client } from '../protocol/client'
import { createId, isSameText, secureRandom } from '../protocol/credential'
import type { ChoicesQuestion, ConsentFact } from '../protocol/extension'
import { Throttled } from '../protocol/oauth-error'
import { refused, UnusableClient } from '../protocol/refusals'
import { type OwnerQuestion, requireQuestion } from '../protocol/owner-question'
import type { Parameters } from '../protocol/parameters'
import type { Scope } from '../protocol/scope'
import { connectedPageName, type ListingContext } from './authorizations-options'
import { type ListedAuthorization, listedOf, type OwnerAuthorizations } from './owner-authorizations'

const clientField = 'client_id'
// Proves a form, or a link after a removal, of this owner's page about this client.
const textField = 'form'

type FormText = (...parts: readonly string[]) => string

export function connectedApplications(
  server: ListingContext,
  authorizations: OwnerAuthorizations,
): readonly OwnPage[] {
  const { settings, store } = server
  const { indexedSince } = store
  const { connectedPath: path, mount } = settings
  if (path === undefined || indexedSince === undefined) return []
  return [
    {
      kind: 'page',
      name: connectedPageName,
      path,
      login: 'required',
      json: true,
      async handle(request) {
        const textOf = await formTexts(store.underlying, server.issuerDigest)
        if (request.method === 'POST') return remove(authorizations, request, textOf, mount + path)
        const view = await new OpenedPage(server, request, textOf).view(await indexedSince.isComplete())
        return pageOf(view, settings.connectedPage, (each) => connectedPage(each, request.locale))
      },
    },
  ]
}

async function remove(
  authorizations: OwnerAuthorizations,
  { parameters, resourceOwner: { subject } }: OwnPageRequest,
  textOf: FormText,
  path: string,
) {
  const clientId = parameters.require(clientField)
  if (!isSameText(parameters.require(textField), textOf('remove', subject, clientId)))
    throw refused('form_cross_site')
  await authorizations.revoke(subject, clientId)
  const removed = { removed: clientId, [textField]: textOf('removed', subject, clientId) }
  return { redirect: path + queryOf(removed, parameters) }
}

const queryOf = (fields: Readonly<Record<string, string>>, parameters: Parameters): string =>
  `?${new URLSearchParams({ ...fields, ...languageFields(parameters) }).toString()}`

interface OwnerApplication {
  readonly clientId: string
  readonly authorizations: Several
  readonly consent: ListedConsent | undefined
}

async function ownerApplications(server: ListingContext, subject: string) {
  const { owners, consents } = server.store
  const { entries, consents: owned } = await owners.read(subject)
  const remembered = (await consents?.list(owned)) ?? []
  const consentOf = new Map(remembered.map((consent) => [consent.clientId, consent]))
  const idsOf = new Map<string, string[]>()
  for (const { clientId, authorizationId } of entries)
    idsOf.set(clientId, [...(idsOf.get(clientId) ?? []), authorizationId])
  const find = async (clientId: string): Promise<OwnerApplication | undefined> => {
    const authorizations = await listedOf(server, (idsOf.get(clientId) ?? []).toSorted(), subject)
    const consent = consentOf.get(clientId)
    if (authorizations.length === 0 && consent === undefined) return undefined
    return { clientId, authorizations, consent }
  }
  return { clientIds: [...new Set([...idsOf.keys(), ...consentOf.keys()])].toSorted(), find }
}

const partSize = 8

function startOf(all: readonly OwnerApplication[], parameters: Parameters): number {
  const [after, before] = [parameters.get('after'), parameters.get('before')]
  const first =
    before === undefined
      ? all.findIndex(({ clientId }) => after === undefined || clientId > after)
      : all.filter(({ clientId }) => clientId < before).length - partSize
  return Math.max(0, first)
}

class OpenedPage {
  constructor(
    private readonly server: ListingContext,
    private readonly request: OwnPageRequest,
    private readonly textOf: FormText,
  ) {}

  async view(isComplete: boolean): Promise<ConnectedView> {
    const { server, request } = this
    const { parameters, locale } = request
    const { clientIds, find } = await ownerApplications(server, request.resourceOwner.subject)
    const asked = parameters.get('remove')
    const removing = asked === undefined ? undefined : await find(asked)
    const empty: ConnectedView = {
      ...viewBase(request),
      removing: undefined,
      applications: [],
      removed: undefined,
      isComplete,
      previous: undefined,
      next: undefined,
      listAt: queryOf({}, parameters),
    }
    if (removing !== undefined) return { ...empty, removing: await this.shown(removing) }
    const all = (await inTurns(clientIds, find)).filter((each) => each !== undefined)
    const start = startOf(all, parameters)
    const part = all.slice(start, start + partSize)
    const [before, after] = [part[0]?.clientId ?? '', part.at(-1)?.clientId ?? '']
    const shown = await Promise.all(part.map((each) => this.shown(each)))
    const { compare } = new Intl.Collator(locale.tag)
    return {
      ...empty,
      applications: shown.toSorted((one, other) =>
        compare(clientNameOf(one.client), clientNameOf(other.client)),
      ),
      removed: await this.removed(all),
      previous: start > 0 ? queryOf({ before }, parameters) : undefined,
      next: start + partSize < all.length ? queryOf({ after }, parameters) : undefined,
    }
  }

  // A link of another site must not claim the removal of any other client.
  private async removed(all: readonly OwnerApplication[]): Promise<ConsentView['client'] | undefined> {
    const { parameters, resourceOwner } = this.request
    const [clientId, text = ''] = [parameters.get('removed'), parameters.get(textField)]
    if (clientId === undefined || !isSameText(text, this.textOf('removed', resourceOwner.subject, clientId)))
      return undefined
    if (all.some((each) => each.clientId === clientId)) return undefined
    return viewOfClient(await this.findClient(clientId), clientId)
  }

  private async shown({
    clientId,
    authorizations,
    consent,
  }: OwnerApplication): Promise<ConnectedApplication> {
    const { server, request } = this
    const { locale, parameters, resourceOwner } = request
    const client = await this.findClient(clientId)
    const granted = [...authorizations, ...(consent ? [consent] : [])]
    const scope = scopeOf(server, granted)
    // The tokens of an approval are no renewal.
    const renewedOn = authorizations.flatMap(({ grantedAt, lastIssuedOn }) =>
      lastIssuedOn > grantedAt ? [lastIssuedOn] : [],
    )
    const redirectUri = client?.redirect_uris[0] ?? ''
    const question = { clientId, scope, redirectUri, subject: resourceOwner.subject, facts: [] }
    const nothing = { optional: [], allowedBefore: [] }
    return {
      client: viewOfClient(client, clientId),
      scope: scope.map((token) => scopeViewOf(token, server.settings.scopes.get(token), nothing, locale)),
      facts: [
        ...resourceFact(server, authorizations),
        ...(await choiceFacts(request, question, authorizations)),
        ...claimsFact(consent?.claims ?? []),
      ],
      grantedAt: Math.min(...granted.map(({ grantedAt }) => grantedAt)),
      lastIssuedOn: renewedOn.length === 0 ? undefined : Math.max(...renewedOn),
      removeAt: queryOf({ remove: clientId }, parameters),
      fields: {
        [clientField]: clientId,
        [textField]: this.textOf('remove', resourceOwner.subject, clientId),
        ...languageFields(parameters),
      },
    }
  }

  private async findClient(clientId: string): Promise<Client | undefined> {
    const sender = { address: this.request.address, networkRefusal: undefined }
    try {
      return await this.server.settings.findClient(clientId, sender)
    } catch (error) {
      if (error instanceof UnusableClient || error instanceof Throttled) return undefined
      throw error
    }
  }
}

const viewOfClient = (client: Client | undefined, clientId: string): ConsentView['client'] =>
  client === undefined ? { client_id: clientId } : clientViewOf(client)

type Several = readonly ListedAuthorization[]

function scopeOf(
  { settings: { scopes } }: ListingContext,
  granted: readonly { readonly scope: Scope }[],
): Scope {
  const all = new Set(granted.flatMap(({ scope }) => scope))
  const known = [...scopes.keys()].filter((token) => all.has(token))
  return [...known, ...[...all].filter((token) => !scopes.has(token))]
}

function resourceFact({ settings }: ListingContext, authorizations: Several): readonly ConsentFact[] {
  // A plug-in's endpoint is no API that its owner knows.
  const isOwn = (uri: string) => !settings.resources?.ofPlugins.some((each) => each.uri === uri)
  const uris = [...new Set(authorizations.flatMap(({ resources }) => resources))].filter(isOwn)
  const values = uris.map((uri) => ({ value: uri, description: settings.resources?.find(uri)?.name ?? uri }))
  return values.length === 0 ? [] : [{ name: 'resource', label: 'Access to', values }]
}

async function choiceFacts(
  request: OwnPageRequest,
  about: ChoicesQuestion,
  authorizations: Several,
): Promise<readonly ConsentFact[]> {
  const answers = new Map<string, Set<string>>()
  for (const { choice = {} } of authorizations)
    for (const [name, value] of Object.entries(choice))
      answers.set(name, (answers.get(name) ?? new Set()).add(value))
  if (answers.size === 0) return []
  const asked = await questionOf(request, about)
  return Array.from(answers, ([name, values]) => {
    const question = asked?.name === name ? asked : undefined
    const labels = new Map(question?.answers.map(({ value, label }) => [value, label]))
    return {
      name: `choice:${name}`,
      label: question === undefined ? name : request.locale.pick(question.text),
      values: Array.from(values, (value) => ({ value, description: labels.get(value) ?? value })),
    }
  })
}

// Owners must be able to remove an application while the host has trouble.
async function questionOf(
  request: OwnPageRequest,
  about: ChoicesQuestion,
): Promise<OwnerQuestion | undefined> {
  try {
    const question: unknown = await request.choices(about)
    requireQuestion(question, 'The option choices returned a question with mistakes:', about.scope)
    return question
  } catch {
    return undefined
  }
}

// Neither another site nor an API that knows an authorization can make such a text.
async function formTexts(store: Store, issuerDigest: string): Promise<FormText> {
  const key = await changeRecord(store, `form-key:${issuerDigest}`, (value) => {
    const made = JSON.stringify(createId(secureRandom))
    return value === undefined ? { write: { value: made }, outcome: made } : { outcome: value }
  })
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
}
