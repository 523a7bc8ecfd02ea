import type { Circumstances } from './authorization/circumstances'
import { FailureReports } from './express/failure'
import { secureRandom } from './protocol/credential'
import type { Settings } from './settings'
import type { AuthorizationStore } from './stores/authorization-store'
import { withDeadline } from './stores/deadline'

/** What every room of one server is wired to. */
export interface Wiring {
  readonly settings: Settings
  readonly store: AuthorizationStore
  readonly circumstances: () => Circumstances
  readonly reports: FailureReports
}

export function wiringOf(settings: Settings): Wiring {
  const { clock, lifetimes } = settings
  return {
    settings,
    store: withDeadline(settings.store, settings.storeDeadline),
    circumstances: () => ({ now: Math.floor(clock() / 1000), random: secureRandom, lifetimes }),
    reports: new FailureReports(),
  }
}
