import { ConfigurationError } from '../protocol/configuration'
import { warnOnce } from '../warning'

/** A part of the server that the host makes by calling it; mounted uncalled, it says so instead of hanging requests. */
export function part<Made>(name: string, make: () => Made): () => Made {
  return (...given: readonly unknown[]) => {
    if (given.length === 0) return make()
    throw mountedUncalled(name, `${name}()`)
  }
}

/** A function that makes a middleware was mounted as if it were the middleware. @param call how it is called. */
export function mountedUncalled(name: string, call: string): ConfigurationError {
  const message = `makes the middleware and is not one itself: mount oauth.${call}.`
  return new ConfigurationError('The authorization server is mounted wrongly:', [
    { path: `oauth.${name}`, message },
  ])
}

/** Watches that a host which mounts the parts one by one has not forgotten the one that the endpoints for clients rest on. */
export class MountedParts {
  private authenticates = false

  noteClientAuthentication(): void {
    this.authenticates = true
  }

  /** Looks when the host's start-up code has run, because parts are made in any order. */
  expectClientAuthentication(endpoint: string): void {
    setImmediate(() => {
      if (!this.authenticates)
        warnOnce(
          'EAS_NO_CLIENT_AUTHENTICATION',
          `oauth.${endpoint}() is mounted without client authentication: mount oauth.clientAuthentication(), or a strategy of oauth.strategies, before it.`,
        )
    }).unref()
  }
}
