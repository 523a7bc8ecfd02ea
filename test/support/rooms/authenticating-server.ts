import type { AuthenticatingServer } from '../../../lib/client-authentication/method'
import { memoryCounters } from '../../../lib/stores/memory-counters'
import { noon } from '../authorization/issue-context'

/** A server at which clients authenticate at noon. */
export function authenticatingServer(bend: Partial<AuthenticatingServer> = {}): AuthenticatingServer {
  return {
    issuer: 'https://photos.example',
    tokenEndpoint: 'https://photos.example/token',
    counters: memoryCounters({ clock: () => noon * 1000 }),
    documents: { fetch: () => Promise.reject(new Error('No document is fetched here.')) },
    now: () => noon,
    ...bend,
  }
}
