import { urlBelow } from '../endpoints/server-metadata'
import type { KeyStore } from '../stores/key-store'
import type { Counters } from '../limits/counters'
import { OptionsReader } from '../primitives/options-reader'
import { isAbsentOr, isList, isRecord, isText, isWhole } from '../primitives/values'
import { secureRandom } from '../protocol/credential'
import type { Storage } from '../stores/storage'
import { issuerDigest } from '../authorization/issuer'
import type { Lifetimes } from '../authorization/lifetimes'
import type { GuardParts, PlugIn, PlugInGuard, PlugInParts, PlugInRisk, PlugInServer } from '../doors/plug-in'

type RunningGuard = Pick<PlugInGuard, 'counters'>

export type RunningServer = RunningGuard &
  Pick<
    PlugInServer,
    | 'documents'
    | 'findClient'
    | 'parseAuthorizationRequest'
    | 'polledRequests'
    | 'findAccess'
    | 'admit'
    | 'find'
    | 'authorizationsOf'
    | 'begin'
    | 'commit'
    | 'reportFailure'
    | 'keys'
  >

export interface Readiness {
  readonly name: string
  readonly ready: () => Promise<unknown>
}

export interface OpenedPlugIns<Running> {
  /** The options, then the parts of each plug-in: lists under the same names. */
  readonly sources: readonly OptionsReader[]
  readonly readiness: readonly Readiness[]
  /** Least seconds that the index keeps an entry; undefined if nothing needs the index. */
  readonly indexSeconds: number | undefined
  readonly risks: readonly PlugInRisk[]
  readonly start: (running: Running) => void
}

interface GuardInView {
  readonly issuer: string
  readonly clock: () => number
  readonly storage: Storage | undefined
}

interface ServerInView extends GuardInView {
  readonly storage: Storage
  readonly lifetimes: Lifetimes
  readonly resources: readonly string[]
  readonly scopes: readonly string[]
  readonly canLogOut: boolean
}

export function openPlugIns(reading: OptionsReader, server: ServerInView): OpenedPlugIns<RunningServer> {
  const running = new Running<RunningServer>()
  // All plug-ins of a server get one object, so one may know the server that another has opened.
  const inView = serverFor(server, running)
  return opened(reading, running, (plugIn) => () => plugIn.open(inView))
}

export function openPlugInsInGuard(reading: OptionsReader, guard: GuardInView): OpenedPlugIns<RunningGuard> {
  const running = new Running<RunningGuard>()
  return opened(reading, running, (plugIn) => {
    const open = plugIn.openInGuard?.bind(plugIn)
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

function guardFor({ issuer, clock, storage }: GuardInView, running: Running<RunningGuard>): PlugInGuard {
  const counters = (member: keyof Counters) => running.for(`counters.${member}`).counters
  return {
    issuer,
    now: () => Math.floor(clock() / 1000),
    random: secureRandom,
    counters: {
      add: (...count) => counters('add').add(...count),
      useOnce: (...use) => counters('useOnce').useOnce(...use),
    },
    storage,
  }
}

function serverFor(server: ServerInView, running: Running<RunningServer>): PlugInServer {
  const { issuer, lifetimes, resources, scopes, canLogOut, storage } = server
  const keys = (member: keyof KeyStore) => {
    const store = running.for(`keys.${member}`).keys
    if (store === undefined) throw new Error('The store keeps no keys.')
    return store
  }
  const guard = guardFor(server, running)
  const ownDigest = issuerDigest(issuer)
  return {
    ...guard,
    storage,
    keys: storage.keys && {
      find: (...name) => keys('find').find(...name),
      save: (...text) => keys('save').save(...text),
    },
    resources,
    scopes,
    canLogOut,
    urlOf: (path) => urlBelow(issuer, path),
    context: () => ({ now: guard.now(), issuerDigest: ownDigest, random: secureRandom, lifetimes }),
    documents: { fetch: (...document) => running.for('documents').documents.fetch(...document) },
    findClient: (clientId) => running.for('findClient').findClient(clientId),
    parseAuthorizationRequest: (...request) =>
      running.for('parseAuthorizationRequest').parseAuthorizationRequest(...request),
    get polledRequests() {
      return running.for('polledRequests').polledRequests
    },
    findAccess: (accessToken) => running.for('findAccess').findAccess(accessToken),
    admit: (request, scope) => running.for('admit').admit(request, scope),
    find: (id) => running.for('find').find(id),
    authorizationsOf: (subject) => running.for('authorizationsOf').authorizationsOf(subject),
    reportFailure: (failure) => running.for('reportFailure').reportFailure(failure),
    begin: (authorization) => running.for('begin').begin(authorization),
    commit: (id, transition) => running.for('commit').commit(id, transition),
  }
}

type Opening = () => PlugInParts | GuardParts

const plugInMessage = 'must be a plug-in: name and open, optionally openInGuard.'

function opened<Part>(
  reading: OptionsReader,
  running: Running<Part>,
  openingOf: (plugIn: PlugIn) => Opening | undefined,
): OpenedPlugIns<Part> {
  const given = reading.optional<readonly unknown[]>('plugIns', [], isList, 'must be a list of plug-ins.')
  const names = new Set<string>()
  const sources = [reading]
  const readiness: Readiness[] = []
  const indexSeconds: number[] = []
  const risks: PlugInRisk[] = []
  for (const [index, plugIn] of given.entries()) {
    const at = `plugIns[${index}]`
    if (!isPlugIn(plugIn)) {
      reading.wrong(at, plugInMessage)
      continue
    }
    if (names.has(plugIn.name))
      reading.wrong(`${at}.name`, `is "${plugIn.name}", which another plug-in has already.`)
    names.add(plugIn.name)
    const open = openingOf(plugIn)
    const parts = open && partsOf(open, (message) => reading.wrong(at, message))
    if (parts === undefined) continue
    const source = new OptionsReader(parts, reading.at(at), reading.issues)
    const ready = source.optional<Readiness['ready'] | undefined>('ready', undefined, isReady, mustBeFunction)
    if (ready !== undefined) readiness.push({ name: plugIn.name, ready: ready.bind(parts) })
    const seconds = source.optional<number | undefined>(
      'indexSeconds',
      undefined,
      isWhole(0, tenYears),
      mustBeSeconds,
    )
    if (seconds !== undefined) indexSeconds.push(seconds)
    for (const { rule, path } of source.optional<readonly PlugInRisk[]>('risks', [], areRisks, mustBeRisks))
      risks.push({ rule, path: `${at}.${path}` })
    sources.push(source)
  }
  return {
    sources,
    readiness,
    indexSeconds: indexSeconds.length === 0 ? undefined : Math.max(...indexSeconds),
    risks,
    start: (part) => running.start(part),
  }
}

/** Hosts write plug-ins, also in JavaScript: check the result. Undefined after a mistake. */
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

const mustBeRisks = 'must be a list of risks, each with rule and path.'
const areRisks = (value: unknown): value is readonly PlugInRisk[] =>
  isList(value) && value.every((risk) => isRecord(risk) && isText(risk['rule']) && isText(risk['path']))
const mustBeFunction = 'must be a function.'
const tenYears = 10 * 365 * 24 * 3600
const mustBeSeconds = `must be whole seconds, 0 to ${tenYears}.`
const isReady = (value: unknown): value is Readiness['ready'] => typeof value === 'function'
const isPlugIn = (value: unknown): value is PlugIn =>
  isRecord(value) &&
  isText(value['name']) &&
  typeof value['open'] === 'function' &&
  isAbsentOr((hook) => typeof hook === 'function', value['openInGuard'])
