import type { Plugin } from '../../../lib/index'
import { password, type PasswordOptions } from '../../../lib/paths/grants'
import { bent, photoBook, photoPrint } from './clients'
import type { Fields } from './flow'

const grant_types = ['password', 'refresh_token']

/** A web application and an app on a phone that were written before there was a better way. */
export const oldPrint = bent(photoPrint, { grant_types })
export const oldBook = bent(photoBook, { grant_types })

export const wonderland = { username: 'alice', password: 'wonderland' }

/** A good request. */
export const passwordRequest: Fields = { grant_type: 'password', ...wonderland, scope: 'photos:read' }

/** The host's own check, which writes down whom it was asked for. Who has a password: alice and bob. */
export class PasswordCheck {
  readonly asked: string[] = []
  private readonly passwords = new Map([
    [wonderland.username, wonderland.password],
    ['bob', 'builder'],
  ])

  readonly verify: PasswordOptions['verify'] = async (username, secret) => {
    this.asked.push(username)
    // Longer than a turn of the event loop, as any real check is.
    await new Promise((resolve) => setTimeout(resolve, 5))
    return this.passwords.get(username) === secret ? `subject of ${username}` : undefined
  }
}

/** The options of a server that has the grant. */
export function withPassword(options: PasswordOptions): {
  readonly plugins: readonly Plugin[]
  readonly clients: readonly (typeof oldPrint.registration)[]
} {
  return { plugins: [password(options)], clients: [oldPrint.registration, oldBook.registration] }
}
