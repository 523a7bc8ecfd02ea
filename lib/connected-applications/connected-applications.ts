import { issuerDigest } from '../authorization/issuer'
import { clientViewOf, scopeViewOf } from '../http/consent'
import type { OwnPage } from '../http/page-endpoint'
import { type ConnectedApplication, connectedPage, type ConnectedView } from '../http/pages/connected-page'
import { clientNameOf, type ConsentView } from '../http/pages/consent-page'
import type { PageLocale } from '../http/pages/texts/locale'
import type { ConsentFact } from '../protocol/extension'
import { Throttled, UnusableClient } from '../protocol/oauth-error'
import type { PageRequest } from '../protocol/page-endpoint'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import type { ServerContext } from '../server/context'
import {
  completenessOf,
  type ListedAuthorization,
  type OwnerAuthorizations,
} from '../server/owner-authorizations'
import { connectedPageName } from './authorizations-options'
import { type OwnerApplication, ownerApplications, type OwnerApplications } from './owner-applications'

// The id of an authorization has 16 random bytes. Nobody but its client, the guards and the host knows it, so no other
// site can make the form; and a client that makes it ends its own access alone. The server finds the client by the id, and
// the id only among those of the owner who is logged in.
const field = 'authorization_id'

/** The page on which owners see and end what they have approved; none without its path. */
export function connectedApplications(
  server: ServerContext,
  authorizations: OwnerAuthorizations,
): readonly OwnPage[] {
  const { settings, index } = server
  const { connectedPath: path, mount } = settings
  if (path === undefined || index === undefined) return []
  const isComplete = completenessOf(index, issuerDigest(settings.issuer), server)
  return [
    {
      kind: 'page',
      name: connectedPageName,
      path,
      login: 'required',
      json: true,
      async handle(request) {
        const owned = await ownerApplications(server, index, request.resourceOwner.subject)
        if (request.method === 'POST') return remove(authorizations, request, owned, mount + path)
        const view = await viewOf(server, request, owned, await isComplete())
        const render = settings.connectedPage
        if (render === undefined) return { html: connectedPage(view, request.locale), view }
        return { view, render: (req, response) => render(req, response, view) }
      },
    },
  ]
}

type OwnerRequest = PageRequest<ResourceOwner>

/** Ends what the owner has approved for the client of the form. A repetition, and an unknown id, end nothing. */
async function remove(
  authorizations: OwnerAuthorizations,
  { parameters, resourceOwner }: OwnerRequest,
  owned: OwnerApplications,
  path: string,
) {
  const clientId = owned.clientOf(parameters.require(field))
  if (clientId !== undefined) await authorizations.revoke(resourceOwner.subject, clientId)
  return { redirect: path + queryOf({ removed: clientId }, parameters) }
}

async function viewOf(
  server: ServerContext,
  request: OwnerRequest,
  owned: OwnerApplications,
  isComplete: boolean,
): Promise<ConnectedView> {
  const { parameters, resourceOwner, locale } = request
  const { tag, dir, service } = locale
  const show = (application: OwnerApplication) => applicationViewOf(server, request, application)
  const asked = parameters.get('remove')
  const removing = asked === undefined ? undefined : await owned.find(asked)
  const common = {
    service,
    language: { tag, dir },
    resourceOwner: { subject: resourceOwner.subject, name: resourceOwner.name },
    isComplete,
    listAt: queryOf({}, parameters),
    action: '?',
  }
  const none = {
    removing: undefined,
    applications: [],
    removed: undefined,
    previous: undefined,
    next: undefined,
  }
  if (removing !== undefined) return { ...common, ...none, removing: await show(removing) }
  const { applications, before, after } = await owned.part({
    after: parameters.get('after'),
    before: parameters.get('before'),
  })
  const shown = await Promise.all(applications.map(show))
  return {
    ...common,
    removing: undefined,
    applications: byName(shown, locale),
    removed: await removedIn(server, request, owned),
    previous: before === undefined ? undefined : queryOf({ before }, parameters),
    next: after === undefined ? undefined : queryOf({ after }, parameters),
  }
}

/** A link to this page, in the language that it was asked for. */
function queryOf(fields: Readonly<Record<string, string | undefined>>, parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...fields, ui_locales: parameters.peek('ui_locales') }))
    if (value !== undefined) query.append(name, value)
  // `?` means the path of the page without its query. It works behind a proxy that adds a prefix to the path.
  return `?${query.toString()}`
}

function byName(
  shown: readonly ConnectedApplication[],
  { tag }: PageLocale,
): readonly ConnectedApplication[] {
  const { compare } = new Intl.Collator(tag)
  return shown.toSorted((one, other) => compare(nameOf(one), nameOf(other)))
}

const nameOf = ({ client }: ConnectedApplication) => clientNameOf(client)

/** The client that the owner has just removed. A link of another site must not say so of any other client. */
async function removedIn(
  server: ServerContext,
  request: OwnerRequest,
  owned: OwnerApplications,
): Promise<ConsentView['client'] | undefined> {
  const clientId = request.parameters.get('removed')
  if (clientId === undefined || !owned.knows(clientId)) return undefined
  return (await owned.find(clientId)) === undefined ? clientOf(server, request, clientId) : undefined
}

async function applicationViewOf(
  server: ServerContext,
  request: OwnerRequest,
  { clientId, authorizations }: OwnerApplication,
): Promise<ConnectedApplication> {
  const { locale, parameters } = request
  const [{ authorizationId }] = authorizations
  const languages = parameters.peek('ui_locales')
  return {
    client: await clientOf(server, request, clientId),
    scope: scopeOf(server, authorizations).map((token) =>
      scopeViewOf(token, server.settings.scopes.get(token), { optional: [] }, locale),
    ),
    facts: [...resourceFact(server, authorizations), ...choiceFacts(authorizations)],
    grantedAt: least(authorizations.map(({ grantedAt }) => grantedAt)),
    lastIssuedOn: greatest(authorizations.map(({ lastIssuedOn }) => lastIssuedOn)),
    removeAt: queryOf({ remove: clientId }, parameters),
    fields: { [field]: authorizationId, ...(languages !== undefined && { ui_locales: languages }) },
  }
}

/** A client as pages show it. A client that cannot be described at the moment, or does not exist any more, has its id alone. */
async function clientOf(
  { settings }: ServerContext,
  { address }: OwnerRequest,
  clientId: string,
): Promise<ConsentView['client']> {
  try {
    const client = await settings.findClient(clientId, { address: () => address, networkRefusal: undefined })
    if (client !== undefined) return clientViewOf(client)
  } catch (error) {
    if (!(error instanceof UnusableClient || error instanceof Throttled)) throw error
  }
  return { client_id: clientId }
}

type Several = readonly ListedAuthorization[]

// In the order of the option `scopes`, so that a page looks the same whatever a client has asked for first.
function scopeOf({ settings: { scopes } }: ServerContext, authorizations: Several): Scope {
  const all = new Set(authorizations.flatMap(({ scope }) => scope))
  const known = [...scopes.keys()].filter((token) => all.has(token))
  return [...known, ...[...all].filter((token) => !scopes.has(token))]
}

function resourceFact({ settings }: ServerContext, authorizations: Several): readonly ConsentFact[] {
  const uris = [...new Set(authorizations.flatMap(({ resources }) => resources))]
  const values = uris.map((uri) => ({ value: uri, description: settings.resources?.find(uri)?.name ?? uri }))
  return values.length === 0 ? [] : [{ name: 'resource', label: 'Access to', values }]
}

/** The answers of the owner, by the name of their question. */
function choiceFacts(authorizations: Several): readonly ConsentFact[] {
  const answers = new Map<string, Set<string>>()
  for (const { choice = {} } of authorizations)
    for (const [name, value] of Object.entries(choice))
      answers.set(name, (answers.get(name) ?? new Set()).add(value))
  return Array.from(answers, ([name, values]) => ({
    name: `choice:${name}`,
    label: name,
    values: Array.from(values, (value) => ({ value, description: value })),
  }))
}

const least = (times: readonly (number | undefined)[]) =>
  times.reduce((one, other) => (other === undefined || (one !== undefined && one <= other) ? one : other))
const greatest = (times: readonly (number | undefined)[]) =>
  times.reduce((one, other) => (other === undefined || (one !== undefined && one >= other) ? one : other))
