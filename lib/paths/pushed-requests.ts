export {
  pushedAuthorizationRequests,
  type PushedAuthorizationRequestsOptions,
  type PushLimitOptions,
} from '../pushed-requests/pushed-requests'
export { requestObjects, type RequestObjectOptions } from '../request-objects/request-objects'
export { formPost } from '../form-post/form-post'
