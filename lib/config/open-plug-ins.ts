import { secondsOf } from '../primitives/clock'
import { aCall, aText, aWhole } from '../primitives/fields'
import { exactShape, type Field, kind, optional, type Place, rows } from '../primitives/schema'
import { urlBelow } from '../endpoints/server-urls'
import type { Counters } from '../limits/counters'
import { isRecord, isText, tenYears } from '../primitives/values'
import { secureRandom } from '../protocol/credential'
import { parsePushedRequest, polledRequests } from '../http/opened-requests'
import { begin, commit } from '../authorization/commit'
import { issuerDigest } from '../authorization/issuer'
import { ignoreTombstone } from '../authorization/authorization'
import { admitAtEndpoint } from '../http/bearer-guard'
import type { Edge, GuardEdge } from '../http/edge'
import type { Lifetimes } from '../authorization/lifetimes'
import type { Plugin, PluginGuard, PluginRisk, PluginServer } from '../doors/plug-in'
import { doors, guardDoors, type Source, type Sources } from './doors'

type RunningGuard = Pick<GuardEdge, 'counters'>

export interface Readiness {
  readonly name: string
  readonly ready: () => Promise<unknown>
}

export const listed = <Row>(sources: Sources, part: string, field: Field<readonly Row[]>): readonly Row[] =>
  Object.freeze(sources.flatMap(({ at }) => at.field(part, field)))

export interface OpenedPlugins<Running> {
  readonly sources: Sources
  readonly readiness: readonly Readiness[]
  /** At least how long the record of an owner keeps an entry. */
  readonly indexSeconds: number | undefined
  readonly risks: readonly Required<PluginRisk>[]
  readonly start: (running: Running) => void
}

type GuardFacts = Pick<PluginGuard, 'issuer' | 'storage'> & { readonly clock: () => number }
type ServerFacts = GuardFacts &
  Pick<PluginServer, 'storage' | 'resources' | 'scopes' | 'canLogOut'> & { readonly lifetimes: Lifetimes }

export function openPlugins(at: Place, server: ServerFacts): OpenedPlugins<Edge> {
  const running = new Running<Edge>()
  // One object for all plug-ins: one may know the server that another has opened.
  const pluginServer = serverFor(server, running)
  return opened(at, running, partNames, (plugin) => {
    const open = plugin.open?.bind(plugin)
    return open && (() => open(pluginServer))
  })
}

export function openPluginsInGuard(at: Place, guard: GuardFacts): OpenedPlugins<RunningGuard> {
  const running = new Running<RunningGuard>()
  return opened(at, running, guardPartNames, (plugin) => {
    const open = plugin.openInGuard?.bind(plugin)
    return open && (() => open(guardFor(guard, running)))
  })
}

class Running<Part> {
  private part: Part | undefined

  start(part: Part): void {
    this.part = part
  }

  for(member: string): Part {
    if (this.part === undefined)
      throw new Error(`${member}() needs the running server: call it in a request, and not in open().`)
    return this.part
  }
}

function guardFor({ issuer, clock, storage }: GuardFacts, running: Running<RunningGuard>): PluginGuard {
  const counters = (member: keyof Counters) => running.for(`counters.${member}`).counters
  return {
    issuer,
    now: secondsOf(clock),
    random: secureRandom,
    counters: {
      add: (...count) => counters('add').add(...count),
      useOnce: (...use) => counters('useOnce').useOnce(...use),
    },
    storage,
  }
}

function serverFor(facts: ServerFacts, running: Running<Edge>): PluginServer {
  const { issuer, lifetimes, resources, scopes, canLogOut, storage } = facts
  const guard = guardFor(facts, running)
  const ownDigest = issuerDigest(issuer)
  return {
    ...guard,
    storage,
    resources,
    scopes,
    canLogOut,
    urlOf: (path) => urlBelow(issuer, path),
    context: () => ({ now: guard.now(), issuerDigest: ownDigest, random: secureRandom, lifetimes }),
    documents: {
      fetch: (...document) => running.for('documents').settings.clientDocuments.fetch(...document),
    },
    findClient: (clientId) => {
      const found = running.for('findClient').settings.findClient(clientId)
      return Promise.resolve(found)
    },
    parseAuthorizationRequest: (...request) =>
      parsePushedRequest(running.for('parseAuthorizationRequest'), ...request),
    get polledRequests() {
      return polledRequests(running.for('polledRequests'))
    },
    findAccess: (accessToken) => running.for('findAccess').store.findAccess(accessToken, guard.now()),
    admit: (...request) => admitAtEndpoint(running.for('admit'), ...request),
    find: (id) =>
      running
        .for('find')
        .store.find(id)
        .then((found) => ignoreTombstone(found?.authorization)),
    async authorizationsOf(subject) {
      const { owners, listsOwners } = running.for('authorizationsOf').store
      if (!listsOwners) throw new Error('No plug-in of this server has indexSeconds.')
      return (await owners.read(subject)).entries
    },
    reportFailure: ({ reason, cause, ...named }) =>
      running.for('reportFailure').audit.reportLateFailure(named, reason, cause),
    begin: (authorization) => begin(running.for('begin').store, authorization, secureRandom),
    commit: (id, transition) => commit(running.for('commit').store, id, transition, secureRandom),
  }
}

const uncalled = (name: string) =>
  `is a function that makes a plug-in: call it, as in plugins: [${name || 'dpop'}()].`

const pluginMessage =
  'must be a plug-in: an object with a name, and with open() or parts such as grantTypes or prepare().'

function opened<Part>(
  options: Place,
  running: Running<Part>,
  names: readonly string[],
  openingOf: (plugin: Plugin) => (() => unknown) | undefined,
): OpenedPlugins<Part> {
  const taken = new Set<string>()
  const sources: Source[] = []
  const readiness: Readiness[] = []
  const indexSeconds: number[] = []
  const risks: Required<PluginRisk>[] = []
  const take = (name: string, at: Place, path: string) => {
    const { ready, indexSeconds: seconds, risks: found } = at.read(ownParts)
    if (ready !== undefined) readiness.push({ name, ready: ready.bind(at.source) })
    if (seconds !== undefined) indexSeconds.push(seconds)
    for (const { rule, path: member } of found)
      risks.push({ rule, path: member === undefined ? path : `${path}.${member}` })
    sources.push({ name, at })
  }
  const pluginField: Field<Plugin | undefined> = (given, at, path) => {
    const cure = typeof given === 'function' ? uncalled(given.name) : pluginMessage
    const plugin = kind(isPlugin, cure)(given, at, path)
    if (plugin === undefined) return undefined
    const { name } = plugin
    // Its parts would be taken, too.
    if (taken.has(name)) {
      at.wrong(`${path}.name`, `is "${name}", which another plug-in has already.`)
      return undefined
    }
    taken.add(name)
    const itself = at.inside(plugin, path)
    if (names.some((part) => itself.source[part] !== undefined)) take(name, itself, path)
    const open = openingOf(plugin)
    const parts = open && partsOf(open, (message) => at.wrong(path, message))
    if (parts === undefined) return plugin
    const source = at.inside(parts, path)
    source.refuseUnknown(names)
    take(name, source, path)
    return plugin
  }
  options.field('plugins', rows(pluginField, 'plug-ins'))
  return {
    sources,
    readiness,
    indexSeconds: indexSeconds.length === 0 ? undefined : Math.max(...indexSeconds),
    risks,
    start: (part) => running.start(part),
  }
}

/** Hosts write plug-ins, also in JavaScript. */
function partsOf(
  open: () => unknown,
  wrong: (message: string) => void,
): Readonly<Record<string, unknown>> | undefined {
  try {
    const parts = open()
    if (isRecord(parts) && !('then' in parts)) return parts
    wrong('must return an object of lists, such as { grantTypes }, and not a promise.')
  } catch (thrown) {
    wrong(`cannot be opened: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
  return undefined
}

const ownParts = {
  ready: optional(aCall<Readiness['ready']>()),
  indexSeconds: optional(aWhole(0, tenYears)),
  risks: rows(exactShape<PluginRisk>({ rule: aText, path: optional(aText) }), 'risks, each with a rule'),
}

const guardPartNames = ['accessTokenFormats', 'tokenTypes', ...guardDoors, ...Object.keys(ownParts)]
const partNames = [
  ...guardPartNames,
  ...doors,
  'clientAuthenticationMethods',
  'clientMembers',
  'endpoints',
  'grantTypes',
  'resources',
  'responseModes',
  'responseTypes',
]

const isAbsentOrCall = (value: unknown) => value === undefined || typeof value === 'function'

const isPlugin = (value: unknown): value is Plugin =>
  isRecord(value) &&
  isText(value['name']) &&
  isAbsentOrCall(value['open']) &&
  isAbsentOrCall(value['openInGuard']) &&
  ['open', 'openInGuard', ...partNames].some((part) => value[part] !== undefined)
