// A file of its own: the plug-in's import brings the declaration into those of the package.
declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `pushedAuthorizationRequests()`: whether the client must push every authorization request (RFC
     * 9126 6). Default: the option `required` of the plug-in.
     */
    readonly require_pushed_authorization_requests?: boolean | undefined
  }
}
