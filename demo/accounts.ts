import { compare } from 'bcrypt'
import type { ResourceOwner } from '../lib/index'

interface Account {
  readonly owner: ResourceOwner
  readonly passwordHash: string
}

/** What to type at the sign-in page. */
export const demoAccount = { username: 'ada', password: 'countess' }

const accounts = new Map<string, Account>([
  [
    demoAccount.username,
    {
      owner: { subject: 'user-1815', name: 'Ada Lovelace' },
      passwordHash: '$2b$10$OzyyDfcZtt/h6mYvuhVW/um.Ai1GaL0JNVjRtKBLc92Ke1zDqb7kS',
    },
  ],
])

// Compared with when there is no such account: an unknown name must take as long as a wrong password.
const hashOfNoAccount = '$2b$10$d4DzFxXxnbfjr3M0UqMZsOslZ4wjMkjAjnQiU/xydgB.7wQXxPFly'

/** Who has this name and password; undefined for nobody. */
export async function findResourceOwner(
  username: string,
  password: string,
): Promise<ResourceOwner | undefined> {
  const account = accounts.get(username)
  const matches = await compare(password, account?.passwordHash ?? hashOfNoAccount)
  return matches ? account?.owner : undefined
}
