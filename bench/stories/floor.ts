import { basic, clientCredentials } from '../flows'
import { get, wrong, type Connection, type Stories } from '../story'

/** What is left when nothing is authorized: one write for a token, one read for a route. */
export const floor: Stories = {
  clientCredentials: clientCredentials({ authorize: '', token: '/token', clientPost: basic }),
  guard: async (connection) => asked(connection, '/photos'),
}

/** The same route as the guarded one, in the same application, without the guard and with one read. */
export const unguarded: Stories = {
  guard: async (connection) => asked(connection, '/read'),
}

function asked(connection: Connection, path: string) {
  const request = get(path)
  return async () => {
    const answer = await connection.ask(request)
    if (answer.status !== 200 || answer.body !== '{"photos":[]}') throw wrong(answer)
  }
}
