import { issuerDigest } from '../authorization/issuer'
import { clientStrategy, type ServerStrategy } from '../client-authentication/strategies'
import type { ServerContext, ServerSettings } from '../config/settings'
import { authenticatorAtHost } from '../http/client-authenticator'
import { networkLimits } from '../http/network-limits'
import { hostWatch } from '../http/transport'
import { issueLimits } from '../limits/issue-limits'
import { demandedLogins, openRequests } from '../limits/open-requests'
import { steadyClock } from '../primitives/steady-clock'
import { secureRandom } from '../protocol/credential'
import { refused } from '../protocol/refusals'
import { openStore } from './create-store'
import { sortPlugIns } from './sort-plug-ins'
import { withDeadline } from '../stores/deadline'
import { guardEdge, lookUpIn } from './guard-edge'
import { authenticationOf, methodsIn } from './wire-client-authentication'

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, maintenance, storeDeadline } = settings
  const ownDigest = issuerDigest(issuer)
  const steady = steadyClock(clock)
  const { store, plain } = openStore(settings, ownDigest)
  const whole = withDeadline(settings.store, storeDeadline)
  const guards = guardEdge(settings, settings, lookUpIn(settings, plain, whole, store.clientMarks))
  const strategies = new Map<string, ServerStrategy>()
  const server: ServerContext = {
    ...guards,
    ...authenticationOf(settings, guards.counters),
    settings,
    issuerDigest: ownDigest,
    random: secureRandom,
    store,
    plugIns: sortPlugIns(settings),
    limits: {
      issuing: issueLimits(settings.issueLimits, clock),
      openRequests: openRequests(settings.openRequestLimit, steady),
      demandedLogins: demandedLogins(
        settings.rateLimit.authorization,
        lifetimes.authorizationRequest,
        steady,
      ),
    },
    requireService: maintenance && unlessClosed(maintenance),
    networkLimits: networkLimits(settings, guards.contexts),
    watchHost: hostWatch(issuer),
    strategies,
  }
  const atHost = authenticatorAtHost(server)
  for (const { name } of methodsIn(server.credentialTerms))
    strategies.set(name, clientStrategy(name, server.verification, atHost))
  return server
}

function unlessClosed(maintenance: NonNullable<ServerSettings['maintenance']>): () => Promise<void> {
  return async () => {
    const isClosed: unknown = await maintenance()
    if (isClosed === true) throw refused('maintenance')
  }
}
