import { compare } from 'bcrypt'
import type { ResourceOwner } from '../lib/index'

interface Account {
  readonly owner: Required<Pick<ResourceOwner, 'subject' | 'name'>>
  /** What clients with "sign in with Lumen" may learn (OpenID Connect Core 5.1). */
  readonly claims: object
  readonly passwordHash: string
}

/** What to type at the sign-in page. */
export const demoAccount = { username: 'ada', password: 'countess' }

const accounts = new Map<string, Account>([
  [
    demoAccount.username,
    {
      owner: { subject: 'user-1815', name: 'Ada Lovelace' },
      claims: {
        name: 'Ada Lovelace',
        given_name: 'Ada',
        family_name: 'Lovelace',
        preferred_username: demoAccount.username,
        email: 'ada@lumen.example',
        email_verified: true,
      },
      passwordHash: '$2b$10$OzyyDfcZtt/h6mYvuhVW/um.Ai1GaL0JNVjRtKBLc92Ke1zDqb7kS',
    },
  ],
])

// Compared with when there is no such account: an unknown name must take as long as a wrong password.
const hashOfNoAccount = '$2b$10$d4DzFxXxnbfjr3M0UqMZsOslZ4wjMkjAjnQiU/xydgB.7wQXxPFly'

/** Who has this name and password, with the time and the method of this login; undefined if there is none. */
export async function findResourceOwner(
  username: string,
  password: string,
): Promise<ResourceOwner | undefined> {
  const account = accounts.get(username)
  const matches = await compare(password, account?.passwordHash ?? hashOfNoAccount)
  if (!matches || account === undefined) return undefined
  return { ...account.owner, authTime: Math.floor(Date.now() / 1000), amr: ['pwd'] }
}

/** What Lumen knows about a resource owner; undefined for an account that is gone. */
export function claimsOf(subject: string): object | undefined {
  return [...accounts.values()].find(({ owner }) => owner.subject === subject)?.claims
}
