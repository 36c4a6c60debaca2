/** Templates for new workflows. They use the sample database; replace the names of models and hosts. */

export interface Template {
  id: string;
  name: string;
  description: string;
  tags: string[];
  /** What it requires besides the sample database; empty for nothing. */
  needs: string;
  /** As YAML. */
  definition: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    id: "query",
    name: "Revenue by region",
    description: "Queries a database, checks that the result is not empty, and returns the best region.",
    tags: ["sales"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    since:
      type: string
      format: date
      default: "2026-06-01"
      description: First day of the orders.
steps:
  - id: revenue
    type: sql
    description: Queries take no expressions; parameters are bound by name.
    database: shop
    query: |
      SELECT c.region, ROUND(SUM(i.quantity * i.price), 2) AS revenue, COUNT(DISTINCT o.id) AS orders
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid' AND o.ordered_on >= :since
      GROUP BY c.region
      ORDER BY revenue DESC
    params: { since: "\${{ inputs.since }}" }
  - id: any_orders
    type: assert
    that: steps.revenue.row_count > 0
    message: No orders since \${{ inputs.since }}.
output:
  best_region: "\${{ steps.revenue.rows[0].region }}"
  total: "\${{ steps.revenue.rows.map(r, r.revenue).sum() }}"
  regions: "\${{ steps.revenue.rows }}"
examples:
  - name: June 2026
    inputs: { since: "2026-06-01" }
    expect: { best_region: west }
`,
  },
  {
    id: "schedule",
    name: "Unpaid orders every morning",
    description: "Runs on weekday mornings and lists the unpaid orders.",
    tags: ["sales", "daily"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    until:
      type: string
      description: Last day of the orders, for example 2026-06-28.
      default: "2026-06-28"
steps:
  - id: unpaid
    type: sql
    database: shop
    query: |
      SELECT o.id, c.name AS customer, o.ordered_on, o.status
      FROM orders o JOIN customers c ON c.id = o.customer_id
      WHERE o.status <> 'paid' AND o.ordered_on <= date(:until)
      ORDER BY o.ordered_on
      LIMIT 200
    params: { until: "\${{ inputs.until }}" }
    retry: { attempts: 3, initial: 5s }
  - id: by_customer
    type: set
    values:
      customers: "\${{ steps.unpaid.rows.map(r, r.customer).unique() }}"
output:
  orders: "\${{ steps.unpaid.rows }}"
  customers: "\${{ steps.by_customer.customers }}"
schedule:
  cron: "0 7 * * MON-FRI"
  timezone: Europe/Berlin
  inputs: { until: "\${{ run.scheduled_for }}" }
  overlap: skip
`,
  },
  {
    id: "model",
    name: "Revenue in two sentences",
    description: "Summarizes the rows of a query with a model, and validates the model's output.",
    tags: ["sales"],
    needs: "a model named writer in the configuration",
    definition: `inputs:
  type: object
  properties:
    since: { type: string, format: date, default: "2026-06-01" }
steps:
  - id: revenue
    type: sql
    database: shop
    query: |
      SELECT c.region, ROUND(SUM(i.quantity * i.price), 2) AS revenue
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid' AND o.ordered_on >= :since
      GROUP BY c.region
      ORDER BY revenue DESC
    params: { since: "\${{ inputs.since }}" }
  - id: words
    type: model
    model: writer
    system: Write for busy readers. Use only facts from the data.
    prompt: |
      Summarize the revenue by region since \${{ inputs.since }} for a manager, from these rows only:
      \${{ steps.revenue.rows }}
    output_schema:
      type: object
      properties:
        headline: { type: string, description: At most eight words. }
        text: { type: string, description: Two sentences. }
      required: [headline, text]
      additionalProperties: false
    temperature: 0
    retry: { attempts: 3, initial: 5s }
output: "\${{ steps.words.object }}"
`,
  },
  {
    id: "approval",
    name: "Ask for approval",
    description:
      "A person reviews the query result, fills in a form and decides. The next step depends on the decision.",
    tags: ["approval"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    region:
      type: string
      enum: [north, east, south, west]
      default: north
    discount:
      type: integer
      minimum: 1
      maximum: 50
      default: 10
      description: In percent.
steps:
  - id: customers
    type: sql
    database: shop
    query: SELECT id, name FROM customers WHERE region = :region ORDER BY name
    params: { region: "\${{ inputs.region }}" }
  - id: approve
    type: approval
    message: Give \${{ steps.customers.row_count }} customers in the \${{ inputs.region }} a discount of \${{ inputs.discount }} %?
    form:
      type: object
      properties:
        budget: { type: string, title: Budget, enum: [sales, marketing] }
        until: { type: string, format: date, title: Valid until }
        note: { type: string, title: Note for the team, maxLength: 1000 }
      required: [budget]
    timeout: 2d
  - id: granted
    type: set
    if: steps.approve.approved
    for_each: steps.customers.rows
    values:
      customer: "\${{ item.name }}"
      discount: "\${{ inputs.discount }}"
output:
  approved: "\${{ steps.approve.approved }}"
  customers: "\${{ (steps.granted.items ?? []).map(i, i.customer) }}"
`,
  },
  {
    id: "notify",
    name: "Notify the team",
    description:
      "Posts to a webhook with a secret, retries on failure, and sends an e-mail if every attempt fails.",
    tags: ["notify"],
    needs: "a secret named team_hook for hooks.example.com, and e-mail to example.com",
    definition: `inputs:
  type: object
  properties:
    text: { type: string, default: The numbers are in., maxLength: 2000 }
  required: [text]
steps:
  - id: post
    type: http
    method: POST
    url: https://hooks.example.com/team
    headers: { Authorization: { secret: team_hook, prefix: "Bearer " } }
    body: { text: "\${{ inputs.text }}" }
    timeout: 10s
    retry: { attempts: 4, initial: 2s, on: [http_status, http_failed, timeout] }
    on_error: continue
    on_interrupted: retry
  - id: mail
    type: email
    if: steps.post.error != null
    to: [team@example.com]
    subject: Millrace could not post to the team
    text: |
      \${{ inputs.text }}

      (The webhook failed: \${{ steps.post.error }})
    retry: { attempts: 3, initial: 10s }
output:
  posted: "\${{ steps.post.error == null }}"
`,
  },
  {
    id: "side-by-side",
    name: "Join two queries",
    description: "Runs two queries in parallel and joins their rows in memory, even across databases.",
    tags: ["sales", "customers"],
    needs: "",
    definition: `steps:
  - id: spent
    type: sql
    needs: []
    database: shop
    query: |
      SELECT o.customer_id, ROUND(SUM(i.quantity * i.price), 2) AS spent
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid'
      GROUP BY o.customer_id
  - id: customers
    type: sql
    needs: []
    database: shop
    query: SELECT id, name, region FROM customers
  - id: joined
    type: sql
    description: An in-memory DuckDB whose tables are the rows of earlier steps.
    needs: [spent, customers]
    database: scratch
    tables:
      spent: "\${{ steps.spent.rows }}"
      customers: "\${{ steps.customers.rows }}"
    query: |
      SELECT c.name, c.region, CAST(s.spent AS DOUBLE) AS spent
      FROM customers c JOIN spent s ON s.customer_id = c.id
      ORDER BY spent DESC
      LIMIT 10
output: "\${{ steps.joined.rows }}"
`,
  },
];

/** The smallest definition that runs, as a starting point in the editor. */
export const BLANK_TEMPLATE: Template = {
  id: "blank",
  name: "",
  description: "",
  tags: [],
  needs: "",
  definition: `steps:
  - id: hello
    type: set
    values: { text: Good morning }
output: "\${{ steps.hello.text }}"
`,
};
