import type { ClientRegistration, ClientRegistry } from 'express-authorization-server'
import type { Pool } from 'pg'
import { isWritten } from './postgres-rows'

/** For your migrations. */
export const clientsSchema = `
create table if not exists oauth_clients (
  client_id text collate "C" primary key,
  registration text not null
);
`

const find = `select registration from oauth_clients where client_id = $1`
const list = `select registration from oauth_clients order by client_id`
const add = `insert into oauth_clients (client_id, registration) values ($1, $2) on conflict do nothing`
const replace = `update oauth_clients set registration = $3 where client_id = $1 and registration = $2`

interface Row {
  readonly registration: unknown
}

/** A column that is missing, null or of another type (jsonb comes as an object) must not pass for a client that is not there. */
function textOf({ registration }: Row): string {
  if (typeof registration === 'string') return registration
  throw new Error('The column oauth_clients.registration must be of the type text, and not null.')
}

/** Registered clients in PostgreSQL: a row for each, as text, so that comparing it tells whether it was changed. */
export function postgresClients(pool: Pool): ClientRegistry {
  async function stored(clientId: string): Promise<string | undefined> {
    // PostgreSQL refuses this character in any text: a client of that name cannot be there.
    if (clientId.includes('\0')) return undefined
    const { rows } = await pool.query<Row>(find, [clientId])
    return rows[0] && textOf(rows[0])
  }

  return {
    async find(clientId) {
      const text = await stored(clientId)
      return text === undefined ? undefined : read(text)
    },

    async add(registration) {
      const done = await pool.query(add, [registration.client_id, JSON.stringify(registration)])
      return isWritten(done)
    },

    async update(clientId, change) {
      for (;;) {
        const before = await stored(clientId)
        if (before === undefined) return undefined
        const current = read(before)
        const next = change(current)
        if (next.client_id !== clientId) throw new RangeError('A change must not change the client_id.')
        if (next === current) return current
        if (isWritten(await pool.query(replace, [clientId, before, JSON.stringify(next)]))) return next
      }
    },

    async list() {
      const { rows } = await pool.query<Row>(list)
      return rows.map((row) => read(textOf(row)))
    },
  }
}

/** The server checks what it finds by every rule of a registration. */
function read(text: string): ClientRegistration {
  return JSON.parse(text)
}
