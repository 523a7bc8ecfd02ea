import { formPost, get, headerOf, wrong, type Stories } from '../story'

const album = 'Norway & Sweden'

/** A form is sent, by which the session changes, and the page fetched to which it leads: two requests. */
export const application: Stories = {
  application: async (connection) => {
    const first = await connection.ask(formPost('/album', { album }))
    const [cookie = ''] = headerOf(first, 'set-cookie')?.split(';') ?? []
    if (cookie === '') throw wrong(first)
    let turn = 0
    return async () => {
      const renamed = `${album} ${(turn += 1)}`
      const answer = await connection.ask(formPost('/album', { album: renamed }, { Cookie: cookie }))
      if (answer.status !== 303 || headerOf(answer, 'location') !== '/album') throw wrong(answer)
      const page = await connection.ask(get('/album', { Cookie: cookie }))
      if (page.status !== 200 || !page.body.includes(renamed.replace('&', '&amp;'))) throw wrong(page)
    }
  },
}
