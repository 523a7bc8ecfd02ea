import { errorPage } from '../../../lib/http/pages/pages'

const view = {
  title: 'This link cannot be used',
  message: 'The application is not registered here.',
  code: 'unknown_client',
  requestId: 'b7f3c1d0e9a84f52',
}

describe('errorPage', () => {
  it('tells what happened, in the title and in the one heading', () => {
    const page = errorPage(view)
    expect(page).toContain('<title>This link cannot be used</title>')
    expect(page.match(/<h1>[^]*?<\/h1>/g)).toEqual(['<h1>This link cannot be used</h1>'])
    expect(page).toContain('The application is not registered here.')
  })

  it('says that nothing was shared', () => {
    expect(errorPage(view)).toContain('Nothing was shared.')
  })

  it('names the code and the request', () => {
    const page = errorPage(view)
    expect(page).toContain('<code>unknown_client</code>')
    expect(page).toContain('<code>b7f3c1d0e9a84f52</code>')
  })

  it.each(['title', 'message', 'code', 'requestId'] as const)(
    'escapes a %s that is HTML [consent-19]',
    (field) => {
      const page = errorPage({ ...view, [field]: '<img src=x onerror=alert(1)>' })
      expect(page).not.toContain('<img')
      expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;')
    },
  )

  it('has no script, no inline style attribute, no link and no form', () => {
    expect(errorPage(view)).not.toMatch(/<script|\sstyle=|\son\w+=|<a\s|<form/i)
  })
})
