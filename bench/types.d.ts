declare module 'oauth2orize-pkce' {
  import type { MiddlewareFunction } from 'oauth2orize'
  /** Adds `codeChallenge` and `codeChallengeMethod` to the authorization request. */
  export function extensions(): MiddlewareFunction
}

declare namespace Express {
  /** What Passport leaves in `request.user`: the owner, or a client that acts for itself. */
  interface User {
    readonly id: string
  }
}
