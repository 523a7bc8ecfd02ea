import { basic, clientCredentials, rotating, type Dialect } from '../flows'
import { get, wrong, type Connection, type Fields, type Stories } from '../story'
import { ours } from './ours'

const dialect: Dialect = { authorize: '', token: '/token', clientPost: basic }

/** What is left when nothing is authorized: one write for a token, one read for a route, both for a refresh. */
export const floor: Stories = {
  bareRoute: async (connection) => asked(connection, '/open'),
  clientCredentials: clientCredentials(dialect),
  refresh: async (connection) => rotating(dialect, connection, 'the first one'),
  guard: async (connection) => asked(connection, '/photos'),
}

/** The guarded route without its guard and with one read: in the same application, after the same code flow. */
export const unguarded: Stories = {
  guard: async (connection) => {
    await ours.guard?.(connection)
    return asked(connection, '/read', { Authorization: `Bearer at_${'A'.repeat(65)}` })
  },
}

function asked(connection: Connection, path: string, headers: Fields = {}) {
  const request = get(path, headers)
  return async () => {
    const answer = await connection.ask(request)
    if (answer.status !== 200 || answer.body !== '{"photos":[]}') throw wrong(answer)
  }
}
