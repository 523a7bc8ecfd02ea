import { basic, guarded, tokens } from '../flows'
import type { Stories } from '../story'

/** A guard alone: its target signs one token for the story. */
export const jwt: Stories = {
  guardJwt: async (connection) => {
    const { access_token } = tokens(await connection.ask(basic('/token', {})))
    return guarded(connection, access_token)
  },
}

/** A guard that believes any token. */
export const guarding: Stories = {
  guard: async (connection) => guarded(connection, 'A'.repeat(64)),
}
